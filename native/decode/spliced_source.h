// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "decode/byte_source.h"

namespace veravox {

struct ByteRange {
  uint64_t begin = 0;
  uint64_t bytes = 0;
};

// Ranges of another source, one after another, behind a head of its own.
class SplicedSource final : public ByteSource {
 public:
  // `source` is used in place and outlives this object; the ranges are inside it.
  SplicedSource(ByteSource& source, std::vector<uint8_t> head, const std::vector<ByteRange>& ranges);

  uint64_t size() const override { return size_; }
  std::span<const uint8_t> Read(uint64_t offset, size_t count) override;

 private:
  struct Piece {
    ByteRange range;
    uint64_t at = 0;  // its position in this source
  };

  ByteSource& source_;
  const std::vector<uint8_t> head_;
  std::vector<Piece> pieces_;
  uint64_t size_ = 0;
};

}  // namespace veravox
