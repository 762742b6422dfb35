// SPDX-License-Identifier: Apache-2.0
#include "decode/matroska_damage.h"

#include <algorithm>
#include <bit>

#include "decode/big_endian.h"

namespace veravox {

uint64_t MatroskaDamage::TakeBefore(uint64_t offset) {
  packet_begin_ = offset;
  if (track_ == 0) track_ = TrackAt(offset);
  while (next_ < offset && steps_left_ > 0) Step();
  return damage_.TakeBefore(offset);
}

std::optional<MatroskaElement> MatroskaDamage::ElementAt(uint64_t offset) {
  return MatroskaElement::Read(ReadInARow(source_, offset, MatroskaElement::kMostHeaderBytes, pieces_));
}

void MatroskaDamage::Step() {
  --steps_left_;
  if (damage_begin_ > 0) return FindNextPart();
  if (segment_end_ > 0 && next_ >= segment_end_) {
    steps_left_ = 0;
    return;
  }
  const auto element = ElementAt(next_);
  if (element && Enter(*element)) {
    next_ += element->header_bytes;
  } else if (element && IsSound(*element)) {
    const uint64_t bytes = element->header_bytes + *element->size;
    if (IsLostBlock(*element)) damage_.Note({next_, bytes});
    next_ += bytes;
  } else if (segment_end_ == 0 || (element && element->id == MatroskaElement::kFile)) {
    steps_left_ = 0;  // another file
  } else {
    damage_begin_ = next_;
    ++next_;
  }
}

// Whether its children follow, which are walked.
bool MatroskaDamage::Enter(const MatroskaElement& element) {
  const uint64_t begin = next_ + element.header_bytes;
  if (element.id == MatroskaElement::kSegment && segment_end_ == 0) {
    segment_end_ = source_.size();
    is_segment_whole_ = element.size && *element.size <= source_.size() - begin;
    if (is_segment_whole_) segment_end_ = begin + *element.size;
    return true;
  }
  if (element.id != MatroskaElement::kCluster || begin > segment_end_) return false;
  cluster_end_ = segment_end_;
  if (element.size) cluster_end_ = begin + std::min(*element.size, segment_end_ - begin);
  return true;
}

// Whether it ends inside its parent. Later versions of the format may have elements that are unknown here.
bool MatroskaDamage::IsSound(const MatroskaElement& element) {
  if (!element.size) return false;
  const uint64_t begin = next_ + element.header_bytes;
  if (segment_end_ == 0) return element.id == MatroskaElement::kFile && next_ == begin_;
  const uint64_t parent_end = next_ < cluster_end_ ? cluster_end_ : segment_end_;
  if (begin > parent_end || *element.size > parent_end - begin) return false;
  if (element.id == MatroskaElement::kFile || element.id == MatroskaElement::kSegment) return false;
  const uint64_t end = begin + *element.size;
  if (element.is_known() || end == parent_end) return true;
  const auto next = ElementAt(end);
  return next && next->is_known();
}

// From a block that it cannot read, libavformat goes on with the next cluster.
bool MatroskaDamage::IsLostBlock(const MatroskaElement& element) {
  if (!element.is_block()) return false;
  const uint64_t begin = next_ + element.header_bytes;
  const bool is_heard = packet_begin_ >= begin && packet_begin_ - begin < *element.size;
  return !is_heard && track_ != 0 && TrackOf(element, begin) == track_;
}

// Of a block, or of the block in a group, which has few other children; 0 without one, and if it is empty.
uint64_t MatroskaDamage::TrackOf(const MatroskaElement& element, uint64_t begin) {
  constexpr uint64_t kBlockHeaderBytes = 4;
  constexpr int kMostChildren = 20;
  if (element.id != MatroskaElement::kBlockGroup) {
    return *element.size > kBlockHeaderBytes ? TrackAt(begin) : 0;
  }
  const uint64_t end = begin + *element.size;
  for (int left = kMostChildren; begin < end && left > 0; --left) {
    const auto child = ElementAt(begin);
    if (!child || !child->size) break;
    begin += child->header_bytes;
    if (child->id == MatroskaElement::kBlock) return TrackOf(*child, begin);
    begin += *child->size;
  }
  return 0;
}

// The number at the beginning of a block.
uint64_t MatroskaDamage::TrackAt(uint64_t offset) {
  constexpr size_t kMostBytes = 8;
  const auto bytes = ReadInARow(source_, offset, kMostBytes, pieces_);
  if (bytes.empty() || bytes[0] == 0) return 0;
  const auto count = static_cast<size_t>(std::countl_zero(bytes[0]) + 1);
  return bytes.size() < count ? 0 : BigEndian(bytes.first(count));
}

void MatroskaDamage::FindNextPart() {
  constexpr size_t kStepBytes = 64 * 1024, kIdBytes = 4;
  const auto bytes = ReadInARow(source_, next_, kStepBytes, pieces_);
  size_t at = 0;
  for (; at + kIdBytes <= bytes.size(); ++at) {
    if (bytes[at] >> 4 != 1) continue;  // an id of four bytes
    const auto part = MatroskaElement::Read(bytes.subspan(at));
    if (part && part->is_part()) break;
  }
  next_ += at;
  const bool is_end = bytes.size() < kStepBytes && at + kIdBytes > bytes.size();
  if (is_end) next_ = source_.size();
  const bool is_found = at + kIdBytes <= bytes.size() && next_ < segment_end_;
  if (!is_found && next_ < segment_end_) return;
  // Up to the end of a file that lacks its end, nothing can be told from it.
  const uint64_t end = std::min(next_, segment_end_);
  if (is_found || is_segment_whole_) damage_.Note({damage_begin_, end - damage_begin_});
  damage_begin_ = 0;
  cluster_end_ = 0;
}

}  // namespace veravox
