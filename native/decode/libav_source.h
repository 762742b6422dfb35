// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decode/audio_source.h"
#include "decode/demuxer.h"
#include "decode/libav.h"
#include "decode/mono_mixer.h"

namespace veravox {

// The first audio stream of any allowed container, decoded by libavcodec. The codec is drained at the end.
class LibavSource final : public AudioSource {
 public:
  // The container starts at `begin`. `source`, `container` and `stop` are used in place and outlive this
  // object. Throws StageError.
  LibavSource(ByteSource& source, uint64_t begin, const Container& container, const DecodeOptions& options,
              const StopSignal& stop);

  bool Next(MonoBlock& block) override;
  int64_t damaged_packets() const override { return damaged_packets_; }
  int channels() const override { return channels_; }
  double progress() const override { return demuxer_.progress(); }
  std::string container_name() const override { return demuxer_.container_name(); }
  std::string codec_name() const override { return avcodec_get_name(codec_->codec_id); }

 private:
  bool DecodeFrame();
  void SendPacket();
  void TakeFrame();
  void CountDamage();

  const DecodeLimits limits_;
  const StopSignal& stop_;
  Demuxer demuxer_;
  CodecContextPtr codec_;
  PacketPtr packet_;
  FramePtr frame_;

  MonoMixer mixer_;
  std::vector<float> mono_;
  int channels_ = 0;
  int frame_position_ = 0;  // samples of frame_ that were handed out
  int64_t damaged_packets_ = 0;
  int damaged_in_a_row_ = 0;
  bool packet_is_damaged_ = false;
  bool draining_ = false;
};

}  // namespace veravox
