// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "decode/spliced_source.h"

namespace veravox {

// Parts of a file that are too damaged to be decoded, in order.
class DamagedRanges {
 public:
  // Joined to the last range if it begins where that one ends.
  void Note(const ByteRange& range);
  // The bytes of the ranges that begin before `offset`, less those taken earlier.
  uint64_t TakeBefore(uint64_t offset);

 private:
  std::deque<ByteRange> ranges_;
};

}  // namespace veravox
