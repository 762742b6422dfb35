// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/byte_source.h"
#include "decode/spliced_source.h"

namespace veravox {

// An MPEG audio file without the tags at its end, and with zeros in place of those between its frames, as
// joined files have them. Decoders skip zeros, but would mistake parts of a tag for frames or damage.
// Frames are followed as they are read, so that nothing is read twice.
class TaglessMpeg final : public ByteSource {
 public:
  // The frames start at `begin`, or after it; see BeginOfLastTags. `source` is used in place and outlives
  // this object.
  TaglessMpeg(ByteSource& source, uint64_t begin, uint64_t zeros_in_frames);

  std::span<const uint8_t> Read(uint64_t offset, size_t count) override;
  uint64_t size() const override { return size_; }

 private:
  void WalkTo(uint64_t offset);
  uint64_t EndOfJunk(uint64_t offset);

  ByteSource& source_;
  const uint64_t size_;
  uint64_t walked_;              // start of the next frame or tag
  std::vector<ByteRange> tags_;  // tags found so far, in order
  std::vector<uint8_t> pieces_;
};

}  // namespace veravox
