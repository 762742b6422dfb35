// SPDX-License-Identifier: Apache-2.0
#include "decode/mpeg_packets.h"

#include <memory>

namespace veravox {

MpegPackets::MpegPackets(ByteSource& source, uint64_t begin, const Container& container,
                         const StopSignal& stop)
    : FilePackets(std::make_unique<TaglessMpeg>(source, begin, container), begin, container, stop),
      begin_(begin),
      mpeg_(static_cast<TaglessMpeg&>(bytes())) {}

bool MpegPackets::Next(AVPacket& packet) {
  const bool has_packet = FilePackets::Next(packet);
  if (!has_packet) {
    damaged_bytes_ += mpeg_.TakeDamagedBytes(file_end().value_or(mpeg_.size()));
  } else if (packet.pos >= 0) {
    damaged_bytes_ += mpeg_.TakeDamagedBytes(begin_ + static_cast<uint64_t>(packet.pos));
  }
  return has_packet;
}

std::optional<StatedLength> MpegPackets::stated_length() const {
  // Joined files are longer than the first one says, which tells nothing of their end.
  constexpr double kLongerS = 0.1;
  const auto length = FilePackets::stated_length();
  const bool is_told = length && length->found_s <= length->stated_s.value_or(length->found_s) + kLongerS;
  if (is_told || !mpeg_.is_cut()) return length;
  return StatedLength{};
}

}  // namespace veravox
