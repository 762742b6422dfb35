// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "decode/file_packets.h"
#include "decode/tagless_mpeg.h"

namespace veravox {

// The packets of an MPEG audio file, and what lies between its frames.
class MpegPackets final : public FilePackets {
 public:
  // As for TaglessMpeg. Throws StageError.
  MpegPackets(ByteSource& source, uint64_t begin, const Container& container, const StopSignal& stop);

  bool Next(AVPacket& packet) override;
  uint64_t damaged_bytes() const override { return damaged_bytes_; }
  std::optional<StatedLength> stated_length() const override;

 private:
  const uint64_t begin_;
  TaglessMpeg& mpeg_;  // owned by the base
  uint64_t damaged_bytes_ = 0;
};

}  // namespace veravox
