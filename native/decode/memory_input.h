// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "decode/libav.h"
#include "stop_signal.h"

namespace veravox {

// Gives libav a file that lies in memory. A stop shows as a read error, so that libav's own loops end too.
class MemoryInput {
 public:
  // `bytes` and `stop` are used in place and outlive this object.
  MemoryInput(std::span<const uint8_t> bytes, const StopSignal& stop);
  MemoryInput(const MemoryInput&) = delete;  // libav holds its address
  MemoryInput& operator=(const MemoryInput&) = delete;

  AVIOContext* io() { return io_.get(); }
  // Share of the bytes that libav has read, 0..1.
  double progress() const;

 private:
  static int Read(void* self, uint8_t* out, int size);
  static int64_t Seek(void* self, int64_t offset, int whence);

  std::span<const uint8_t> bytes_;
  const StopSignal& stop_;
  int64_t position_ = 0;  // may lie past the end
  IoContextPtr io_;
};

}  // namespace veravox
