// SPDX-License-Identifier: Apache-2.0
#include "decode/ranged_source.h"

#include <algorithm>

namespace veravox {

RangedSource::RangedSource(RangeReader& reader, uint64_t size, const StopSignal& stop, const Limits& limits)
    : reader_(reader),
      size_(size),
      stop_(stop),
      limits_(limits),
      max_blocks_read_(2 * (size / limits.block_bytes + 1) + limits.spare_blocks) {
  blocks_.reserve(limits.kept_blocks);
}

std::span<const uint8_t> RangedSource::Read(uint64_t offset, size_t count) {
  if (offset >= size_ || count == 0) return {};
  if (failure_) std::rethrow_exception(failure_);
  try {
    const Block& block = Find(offset / limits_.block_bytes);
    const auto begin = static_cast<size_t>(offset % limits_.block_bytes);
    return std::span<const uint8_t>(block.bytes).subspan(begin, std::min(count, block.bytes.size() - begin));
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
}

const RangedSource::Block& RangedSource::Find(uint64_t index) {
  ++uses_;
  const auto found =
      std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) { return block.index == index; });
  if (found != blocks_.end()) {
    found->last_use = uses_;
    return *found;
  }
  if (blocks_.size() < limits_.kept_blocks) {
    blocks_.emplace_back();
    Fill(blocks_.back(), index);
    return blocks_.back();
  }
  const auto oldest = std::min_element(
      blocks_.begin(), blocks_.end(), [](const Block& a, const Block& b) { return a.last_use < b.last_use; });
  Fill(*oldest, index);
  return *oldest;
}

void RangedSource::Fill(Block& block, uint64_t index) {
  stop_.ThrowIfStopped();
  if (++blocks_read_ > max_blocks_read_) {
    throw StageError(ErrorCode::kUndecodable,
                     "The parts of the file lie so far apart that more than twice its size would be read.");
  }
  const uint64_t begin = index * limits_.block_bytes;
  block.bytes.resize(static_cast<size_t>(std::min<uint64_t>(limits_.block_bytes, size_ - begin)));
  try {
    reader_.Read(begin, block.bytes);
  } catch (const StageError&) {
    stop_.ThrowIfStopped();  // perhaps why the reader gave up
    throw;
  }
  block.index = index;
  block.last_use = uses_;
}

}  // namespace veravox
