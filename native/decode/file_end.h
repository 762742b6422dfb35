// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "decode/byte_source.h"
#include "decode/container_sniffer.h"
#include "decode/damaged_ranges.h"

namespace veravox {

// Finds the end of a file that another one follows: joined files, or the links of a chained Ogg stream. Steps
// from part to part of the container by their sizes, only as far as it is read anyway.
class FileEnd {
 public:
  // The container starts at `begin`. `source` is used in place and outlives this object.
  FileEnd(ByteSource& source, uint64_t begin, const Container& container);

  // The end of the file, as far as it is known from the bytes before `offset`. Throws StageError.
  uint64_t Before(uint64_t offset);
  uint64_t Find() { return Before(source_.size()); }
  // The last part seen states more bytes than there are.
  bool is_cut() const { return is_cut_; }
  // Ogg: a page was marked as the last of its logical stream.
  bool has_last_page() const { return has_last_page_; }
  // All but Ogg: where, behind sound, bytes begin that are no part of the container; 0 without such bytes.
  uint64_t rest() const { return rest_; }
  // Ogg: the bytes without an intact page that begin before `offset`, less those taken earlier.
  uint64_t TakeDamagedBytes(uint64_t offset) { return damage_.TakeBefore(offset); }

 private:
  enum class Kind { kNone, kOgg, kMov, kAvi, kMatroska };

  void Step();
  void StepOgg();
  void StepMov();
  void StepAvi();
  void StepMatroska();
  std::span<const uint8_t> Bytes(size_t count) { return ReadInARow(source_, next_, count, pieces_); }
  void Pass(uint64_t bytes);
  void EndAt(uint64_t offset);
  void GiveUp() { kind_ = Kind::kNone; }
  bool IsFileHere();
  bool AreLastTagsHere();
  void EndOrGiveUp();
  void FindNextPage();
  bool IsIntactPage(std::span<const uint8_t> page);

  ByteSource& source_;
  const uint64_t begin_;
  Kind kind_;
  uint64_t next_;  // the next part
  uint64_t end_;
  int steps_left_;
  int looks_left_;
  int tag_searches_left_;
  bool is_cut_ = false;
  bool has_data_ = false;        // Ogg: a page other than a stream's first; else a part that may hold sound
  uint64_t index_end_ = 0;       // MOV: the end of "moov", 0 before it
  bool data_was_first_ = false;  // MOV: "mdat" came before "moov"
  uint64_t rest_ = 0;
  bool has_last_page_ = false;
  std::optional<uint64_t> last_tags_;  // Ogg: their begin, once they were searched for
  DamagedRanges damage_;               // Ogg
  std::vector<uint8_t> pieces_;
};

}  // namespace veravox
