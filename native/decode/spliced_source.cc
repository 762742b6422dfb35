// SPDX-License-Identifier: Apache-2.0
#include "decode/spliced_source.h"

#include <algorithm>

namespace veravox {

SplicedSource::SplicedSource(ByteSource& source, std::vector<uint8_t> head,
                             const std::vector<ByteRange>& ranges)
    : source_(source), head_(std::move(head)), size_(head_.size()) {
  for (const ByteRange& range : ranges) {
    if (range.bytes == 0) continue;
    pieces_.push_back({range, size_});
    size_ += range.bytes;
  }
}

std::span<const uint8_t> SplicedSource::Read(uint64_t offset, size_t count) {
  if (offset >= size_) return {};
  if (offset < head_.size()) {
    const auto begin = static_cast<size_t>(offset);
    return std::span<const uint8_t>(head_).subspan(begin, std::min(count, head_.size() - begin));
  }
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                      [](uint64_t at, const Piece& piece) { return at < piece.at; });
  const Piece& piece = *(after - 1);
  const uint64_t inside = offset - piece.at;
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(count, piece.range.bytes - inside));
  return source_.Read(piece.range.begin + inside, wanted);
}

}  // namespace veravox
