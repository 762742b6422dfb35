// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "prepare/preparer.h"

namespace veravox {

// The live audio of this process, by numbers that its users make up: any thread may go on with a stream where
// another one has left it. Thread-safe; of one stream, one thread at a time holds the lock.
class LiveStreams {
 public:
  struct Stream {
    explicit Stream(const ModelInputSpec& spec) : preparer(spec) {}
    std::mutex mutex;
    Preparer preparer;
  };

  static LiveStreams& OfProcess();

  // The stream with this number; made, and not opened yet, if there is none.
  std::shared_ptr<Stream> Get(uint32_t id, const ModelInputSpec& spec, bool& is_new);
  // Its memory goes with the last thread that uses it.
  void Remove(uint32_t id);
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uint32_t, std::shared_ptr<Stream>> streams_;
};

}  // namespace veravox
