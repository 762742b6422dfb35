// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "decode/demuxer.h"

namespace veravox {

// Packets of a file that is presented to libavformat in a different form.
class FilePackets : public PacketSource {
 public:
  // As for Demuxer, but it owns the bytes.
  FilePackets(std::unique_ptr<ByteSource> bytes, uint64_t begin, const Container& container,
              const StopSignal& stop)
      : bytes_(std::move(bytes)), demuxer_(*bytes_, begin, container, stop) {}

  const AVCodecParameters& parameters() const override { return demuxer_.parameters(); }
  AVRational time_base() const override { return demuxer_.time_base(); }
  const char* container_name() const override { return demuxer_.container_name(); }
  double progress() const override { return demuxer_.progress(); }
  double origin_s() const override { return demuxer_.origin_s(); }
  bool Next(AVPacket& packet) override { return demuxer_.Next(packet); }
  int64_t failures() const override { return demuxer_.failures(); }
  uint64_t damaged_bytes() const override { return demuxer_.damaged_bytes(); }
  std::vector<Unheard> unheard() const override { return demuxer_.unheard(); }
  std::optional<StatedLength> stated_length() const override { return demuxer_.stated_length(); }
  std::optional<uint64_t> file_end() const override { return demuxer_.file_end(); }

 protected:
  ByteSource& bytes() { return *bytes_; }

 private:
  const std::unique_ptr<ByteSource> bytes_;  // outlives demuxer_, which reads from it
  Demuxer demuxer_;
};

}  // namespace veravox
