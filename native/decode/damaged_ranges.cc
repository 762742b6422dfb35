// SPDX-License-Identifier: Apache-2.0
#include "decode/damaged_ranges.h"

namespace veravox {

void DamagedRanges::Note(const ByteRange& range) {
  const bool goes_on = !ranges_.empty() && ranges_.back().begin + ranges_.back().bytes == range.begin;
  if (goes_on) {
    ranges_.back().bytes += range.bytes;
  } else {
    ranges_.push_back(range);
  }
}

uint64_t DamagedRanges::TakeBefore(uint64_t offset) {
  uint64_t bytes = 0;
  for (; !ranges_.empty() && ranges_.front().begin < offset; ranges_.pop_front()) {
    bytes += ranges_.front().bytes;
  }
  return bytes;
}

}  // namespace veravox
