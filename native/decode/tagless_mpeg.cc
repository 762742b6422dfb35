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
// Most searches for another file, and for tags in vain; each reads part of the file.
constexpr int kMaxLooks = 50;

}  // namespace

TaglessMpeg::TaglessMpeg(ByteSource& source, uint64_t begin, const Container& container)
    : source_(source),
      begin_(begin),
      container_(container),
      kind_(container.name == std::string_view("aac") ? MpegAudio::kAdts : MpegAudio::kMpeg),
      size_(BeginOfLastTags(source, begin, container.zeros_in_frames)),
      walked_(begin),
      looks_left_(kMaxLooks),
      tag_looks_left_(kMaxLooks) {}

// Data contains headers by chance: behind junk, another frame, a tag or the end must follow, or a few bytes
// and a frame.
bool TaglessMpeg::IsFrame(size_t bytes) {
  if (bytes == 0 || last_frame_bytes_ > 0) return bytes > 0;
  const uint64_t end = walked_ + bytes;
  if (end == size_) return true;
  const Bytes behind = ReadInARow(source_, end, kFewBytes + kMpegHeaderBytes, pieces_);
  for (size_t i = 0; i + kMpegHeaderBytes <= behind.size(); ++i) {
    if (MpegFrameBytes(behind.subspan(i), kind_) > 0) return true;
  }
  return EndOfTags(end) > end;
}

uint64_t TaglessMpeg::EndOfTags(uint64_t offset) {
  if (tag_looks_left_ <= 0) return EndOfZeros(source_, offset);
  const uint64_t end = EndOfTagsAndZeros(source_, offset);
  // Their end was searched for in vain.
  if (HasAt(ReadInARow(source_, end, kBeginOfLyrics.size(), pieces_), 0, kBeginOfLyrics)) --tag_looks_left_;
  return end;
}

// Up to the next byte that may begin a frame, a tag or a file.
void TaglessMpeg::PassJunk() {
  constexpr size_t kStepBytes = 4096;
  constexpr std::string_view kFirstOfTagsAndFiles = "ITALRBfO\x1a";
  const Bytes bytes = ReadInARow(source_, walked_, kStepBytes, pieces_);
  const auto next = std::find_if(bytes.begin() + 1, bytes.end(), [&](uint8_t byte) {
    return byte == 0xff || kFirstOfTagsAndFiles.find(static_cast<char>(byte)) != std::string_view::npos;
  });
  is_padding_ = is_padding_ && std::all_of(bytes.begin(), next, IsMpegPadding);
  junk_bytes_ += static_cast<uint64_t>(next - bytes.begin());
  walked_ += static_cast<uint64_t>(next - bytes.begin());
}

void TaglessMpeg::EndJunk() {
  // A recording of a radio stream begins inside a frame.
  constexpr uint64_t kMostFrameBytes = 2048;
  const ByteRange junk{walked_ - junk_bytes_, junk_bytes_};
  if (!is_padding_ && junk.bytes > (junk.begin == begin_ ? kMostFrameBytes : kFewBytes)) damage_.Note(junk);
  junk_bytes_ = 0;
  is_padding_ = true;
}

// Zeros in the middle of a stream, as lost blocks of a disk or a download leave them. In front of a tag or of
// the header of a joined file, they are padding.
bool TaglessMpeg::IsHole(const ByteRange& range) {
  const uint64_t end = range.begin + range.bytes;
  if (!has_frames_ || range.bytes <= kFewBytes || end >= size_ || EndOfZeros(source_, range.begin) < end) {
    return false;
  }
  return !IsMpegInfo(ReadInARow(source_, end, kMpegInfoBytes, pieces_));
}

bool TaglessMpeg::is_cut() {
  return last_frame_bytes_ > 0 && walked_ > size_ && walked_ > EndOfZeros(source_, size_);
}

// MPEG streams continue behind damage, and behind tags.
bool TaglessMpeg::IsOtherFile(uint64_t offset) {
  if (--looks_left_ < 0) return false;
  TailSource rest(source_, offset);
  const Container* found = SniffContainer(rest).container;
  return found != nullptr && found != &container_;
}

// Looks behind the last frame, and in it, since it may be cut off.
bool TaglessMpeg::EndsBeforeOtherFile() {
  constexpr size_t kLookBytes = 16;
  const uint64_t end = walked_;
  for (uint64_t at = end - last_frame_bytes_; at <= end; ++at) {
    const bool is_likely =
        (at == end && last_frame_bytes_ > 0) || BeginsLikeFile(ReadInARow(source_, at, kLookBytes, pieces_));
    if (!is_likely || !IsOtherFile(at)) continue;
    size_ = walked_ = at;
    return true;
  }
  last_frame_bytes_ = 0;
  return false;
}

void TaglessMpeg::WalkTo(uint64_t offset) {
  while (walked_ < std::min(offset, size_)) {
    const size_t frame_bytes = MpegFrameBytes(ReadInARow(source_, walked_, kMpegHeaderBytes, pieces_), kind_);
    if (IsFrame(frame_bytes)) {
      EndJunk();
      walked_ += frame_bytes;
      last_frame_bytes_ = frame_bytes;
      has_frames_ = true;
      continue;
    }
    if (EndsBeforeOtherFile()) break;
    const ByteRange tags{walked_, EndOfTags(walked_) - walked_};
    if (tags.bytes == 0) {
      PassJunk();
    } else if (HoldsFrames(source_, tags)) {
      --tag_looks_left_;
      PassJunk();
    } else {
      EndJunk();
      if (IsHole(tags)) damage_.Note(tags);
      tags_.push_back(tags);
      walked_ += tags.bytes;
    }
  }
  if (walked_ >= size_) EndJunk();
}

std::span<const uint8_t> TaglessMpeg::Read(uint64_t offset, size_t count) {
  if (offset >= size_) return {};
  count = static_cast<size_t>(std::min<uint64_t>(count, size_ - offset));
  if (offset >= walked_ && offset - walked_ > kFarBytes) return source_.Read(offset, count);
  WalkTo(offset + count);
  if (offset >= size_) return {};
  count = static_cast<size_t>(std::min<uint64_t>(count, size_ - offset));
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
