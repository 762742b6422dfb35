// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "decode/libav.h"
#include "decode/unheard.h"

namespace veravox {

// A source of packets for a LibavSource. Not thread-safe.
class PacketSource {
 public:
  virtual ~PacketSource() = default;

  virtual const AVCodecParameters& parameters() const = 0;
  virtual AVRational time_base() const = 0;
  // Known with the first packet: the earliest time stamp of the recording's other streams, in seconds;
  // infinite if there are none.
  virtual double origin_s() const = 0;
  virtual const char* container_name() const = 0;
  // Share of all packets read so far, 0..1.
  virtual double progress() const = 0;

  // Reads the next packet. False at the end, if what follows is too damaged to go on, and while is_waiting().
  virtual bool Next(AVPacket& packet) = 0;
  // Places at which reading failed so far.
  virtual int64_t failures() const { return 0; }
  // Bytes in front of the last packet, at the end all, that are too damaged to hold packets.
  virtual uint64_t damaged_bytes() const { return 0; }
  // As in AudioSource.
  virtual std::vector<Unheard> unheard() const { return {}; }
  virtual std::optional<StatedLength> stated_length() const { return {}; }
  virtual std::optional<uint64_t> file_end() const { return {}; }
  // More packets will follow, but the next one has not arrived yet.
  virtual bool is_waiting() const { return false; }
};

}  // namespace veravox
