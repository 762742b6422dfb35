// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/byte_source.h"
#include "decode/container_sniffer.h"
#include "decode/damaged_ranges.h"
#include "decode/mpeg_sync.h"
#include "decode/spliced_source.h"

namespace veravox {

// An MPEG audio file without the tags at its end, and with zeros in place of those between its frames, as
// joined files have them. Decoders skip zeros, but would mistake parts of a tag for frames or damage.
// Frames are followed as they are read, so that nothing is read twice. It ends where a file of another kind
// begins: its size is then smaller than before.
class TaglessMpeg final : public ByteSource {
 public:
  // The frames start at `begin`, or after it. The reference arguments are used in place and outlive this
  // object.
  TaglessMpeg(ByteSource& source, uint64_t begin, const Container& container);

  std::span<const uint8_t> Read(uint64_t offset, size_t count) override;
  uint64_t size() const override { return size_; }
  // The bytes of damaged ranges that begin before `offset`, as far as they were read, less those taken
  // earlier.
  uint64_t TakeDamagedBytes(uint64_t offset) { return damage_.TakeBefore(offset); }
  // The last frame is longer than the rest of the file. Known once all of it was read.
  bool is_cut();

 private:
  void WalkTo(uint64_t offset);
  bool IsFrame(size_t bytes);
  uint64_t EndOfTags(uint64_t offset);
  void PassJunk();
  void EndJunk();
  bool IsHole(const ByteRange& range);
  bool EndsBeforeOtherFile();
  bool IsOtherFile(uint64_t offset);

  ByteSource& source_;
  const uint64_t begin_;
  const Container& container_;
  const MpegAudio kind_;
  uint64_t size_;
  uint64_t walked_;                // start of the next frame or tag
  uint64_t last_frame_bytes_ = 0;  // of the frame that ends at walked_; 0 if none does
  bool has_frames_ = false;        // in front of walked_
  uint64_t junk_bytes_ = 0;        // in front of walked_
  bool is_padding_ = true;         // the junk
  DamagedRanges damage_;
  int looks_left_;
  int tag_looks_left_;
  std::vector<ByteRange> tags_;  // tags found so far, in order
  std::vector<uint8_t> pieces_;
};

}  // namespace veravox
