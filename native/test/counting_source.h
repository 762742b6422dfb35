// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "decode/byte_source.h"

namespace veravox::test {

class CountingSource final : public ByteSource {
 public:
  explicit CountingSource(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  std::span<const uint8_t> Read(uint64_t offset, size_t count) override {
    ++reads;
    const auto read = bytes_.Read(offset, count);
    bytes += read.size();
    return read;
  }

  int reads = 0;
  size_t bytes = 0;

 private:
  MemorySource bytes_;
};

}  // namespace veravox::test
