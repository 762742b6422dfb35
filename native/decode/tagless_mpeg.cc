// SPDX-License-Identifier: Apache-2.0
#include "decode/tagless_mpeg.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "decode/file_tags.h"
#include "decode/hidden_frames.h"
#include "decode/mpeg_sync.h"

namespace veravox {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr std::array<uint8_t, 64 * 1024> kZeros{};
// A read further ahead than this looks at the end of the file, not at frames.
constexpr uint64_t kFarBytes = 1024 * 1024;

}  // namespace

TaglessMpeg::TaglessMpeg(ByteSource& source, uint64_t begin, uint64_t zeros_in_frames)
    : source_(source), size_(BeginOfLastTags(source, begin, zeros_in_frames)), walked_(begin) {}

// The next byte that may begin a frame or a tag.
uint64_t TaglessMpeg::EndOfJunk(uint64_t offset) {
  constexpr size_t kStepBytes = 4096;
  constexpr std::string_view kFirstOfTags = "ITAL";
  const Bytes bytes = ReadInARow(source_, offset, kStepBytes, pieces_);
  const auto next = std::find_if(bytes.begin(), bytes.end(), [&](uint8_t byte) {
    return byte == 0xff || kFirstOfTags.find(static_cast<char>(byte)) != std::string_view::npos;
  });
  return offset + static_cast<uint64_t>(next - bytes.begin());
}

void TaglessMpeg::WalkTo(uint64_t offset) {
  const uint64_t end = std::min(offset, size_);
  while (walked_ < end) {
    const size_t frame_bytes = MpegFrameBytes(ReadInARow(source_, walked_, kMpegHeaderBytes, pieces_));
    if (frame_bytes > 0) {
      walked_ += frame_bytes;
      continue;
    }
    const ByteRange tags{walked_, EndOfTagsAndZeros(source_, walked_) - walked_};
    if (tags.bytes > 0 && !HoldsFrames(source_, tags)) {
      tags_.push_back(tags);
      walked_ += tags.bytes;
    } else {
      walked_ = EndOfJunk(walked_ + 1);
    }
  }
}

std::span<const uint8_t> TaglessMpeg::Read(uint64_t offset, size_t count) {
  if (offset >= size_) return {};
  count = static_cast<size_t>(std::min<uint64_t>(count, size_ - offset));
  if (offset >= walked_ && offset - walked_ > kFarBytes) return source_.Read(offset, count);
  WalkTo(offset + count);
  const auto next = std::upper_bound(tags_.begin(), tags_.end(), offset,
                                     [](uint64_t at, const ByteRange& tag) { return at < tag.begin; });
  if (next != tags_.begin()) {
    const ByteRange& tag = *(next - 1);
    const uint64_t inside = offset - tag.begin;
    if (inside < tag.bytes) {
      return Bytes(kZeros).first(
          static_cast<size_t>(std::min({uint64_t{count}, tag.bytes - inside, uint64_t{kZeros.size()}})));
    }
  }
  const uint64_t until_tag = next == tags_.end() ? count : next->begin - offset;
  return source_.Read(offset, static_cast<size_t>(std::min<uint64_t>(count, until_tag)));
}

}  // namespace veravox
