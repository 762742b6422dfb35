// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "decode/byte_source.h"
#include "decode/damaged_ranges.h"
#include "decode/matroska_element.h"

namespace veravox {

// Finds damage in a Matroska file, behind which libavformat continues with the next part of the segment and
// without a word. Follows the elements only as far as packets were read, so that nothing is fetched twice.
class MatroskaDamage {
 public:
  // The file starts at `begin`. `source` is used in place and outlives this object.
  MatroskaDamage(ByteSource& source, uint64_t begin) : source_(source), begin_(begin), next_(begin) {}

  // The bytes of damaged ranges that begin before `offset`, where the next packet begins or the file ends,
  // less those taken earlier. Throws StageError.
  uint64_t TakeBefore(uint64_t offset);

 private:
  // More than the elements of a day with the shortest packets of audio.
  static constexpr int kMaxSteps = 50'000'000;

  void Step();
  bool Enter(const MatroskaElement& element);
  bool IsSound(const MatroskaElement& element);
  bool IsLostBlock(const MatroskaElement& element);
  uint64_t TrackOf(const MatroskaElement& element, uint64_t begin);
  uint64_t TrackAt(uint64_t offset);
  void FindNextPart();
  std::optional<MatroskaElement> ElementAt(uint64_t offset);

  ByteSource& source_;
  const uint64_t begin_;
  uint64_t next_;             // the next element; while a part is searched for, the first byte not yet seen
  uint64_t segment_end_ = 0;  // 0 in front of it
  bool is_segment_whole_ = false;  // it states its end, which the file has
  uint64_t cluster_end_ = 0;       // the segment's, if the cluster states none
  uint64_t damage_begin_ = 0;      // while a part is searched for, otherwise 0
  uint64_t packet_begin_ = 0;
  uint64_t track_ = 0;  // of the packets, with the marker of its length; 0 before the first
  int steps_left_ = kMaxSteps;
  DamagedRanges damage_;
  std::vector<uint8_t> pieces_;
};

}  // namespace veravox
