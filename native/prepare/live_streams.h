// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "prepare/preparer.h"

namespace veravox {

// The live streams of this process, by numbers that the callers choose: any thread may continue a stream
// where another one left it. Thread-safe; one thread at a time holds a stream's lock.
class LiveStreams {
 public:
  struct Stream {
    explicit Stream(const ModelInputSpec& spec) : preparer(spec) {}
    std::mutex mutex;
    Preparer preparer;
  };

  static LiveStreams& OfProcess();

  // The stream with this number; created, and not yet opened, if there is none.
  std::shared_ptr<Stream> Get(uint32_t id, const ModelInputSpec& spec, bool& is_new);
  // The memory is freed with the last thread that uses it.
  void Remove(uint32_t id);
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uint32_t, std::shared_ptr<Stream>> streams_;
};

}  // namespace veravox
