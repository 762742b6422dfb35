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
    return bytes_.Read(offset, count);
  }

  int reads = 0;

 private:
  MemorySource bytes_;
};

}  // namespace veravox::test
