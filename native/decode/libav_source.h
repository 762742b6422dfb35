// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/audio_source.h"
#include "decode/libav.h"
#include "decode/mono_mixer.h"
#include "decode/packet_source.h"
#include "decode/time_line.h"

namespace veravox {

// Packets of any allowed codec, decoded by libavcodec. The codec is drained at the end.
class LibavSource final : public AudioSource {
 public:
  // `stop` is used in place and outlives this object. Throws StageError.
  LibavSource(std::unique_ptr<PacketSource> packets, const DecodeOptions& options, const StopSignal& stop);

  bool Next(MonoBlock& block) override;
  bool is_waiting() const override { return packets_->is_waiting(); }
  int64_t damaged_packets() const override { return damaged_packets_; }
  std::vector<Unheard> unheard() const override;
  std::optional<StatedLength> stated_length() const override;
  std::optional<uint64_t> file_end() const override { return packets_->file_end(); }
  int channels() const override { return channels_; }
  bool has_inverted_channels() const override { return mixer_.has_inverted(); }
  double progress() const override { return packets_->progress(); }
  std::string container_name() const override { return packets_->container_name(); }
  std::string codec_name() const override { return avcodec_get_name(codec_->codec_id); }

 private:
  bool DecodeFrame();
  bool SendPacket();
  bool PassDamagedBlock();
  int64_t LostFlacBytes() const;
  bool has_blocks() const;
  void TakeFrame();
  MonoBlock TakeSilence();
  double TakeFrameBits();
  double StampS(int64_t stamp) const { return static_cast<double>(stamp) * av_q2d(codec_->pkt_timebase); }
  void CountDamage();
  void NoteSkippedPacket();
  void NoteFailures();
  void NoteDamagedBytes();
  void NoteDamage(int64_t bytes);
  void StretchUnheard(double begin_s, double end_s);

  const DecodeLimits limits_;
  const StopSignal& stop_;
  const std::unique_ptr<PacketSource> packets_;
  CodecContextPtr codec_;
  PacketPtr packet_;
  FramePtr frame_;

  MonoMixer mixer_;
  std::vector<float> mono_;
  int channels_ = 0;
  TimeLine time_line_;
  int64_t silence_ = 0;      // samples that come before frame_
  int frame_position_ = 0;   // samples of frame_ handed out so far
  int64_t packet_bits_ = 0;  // of the packet in the codec, less the frames already taken
  double frame_bits_ = 0.0;
  int64_t damaged_packets_ = 0;
  int damaged_in_a_row_ = 0;
  bool packet_is_damaged_ = false;
  int blocks_ = 0;                      // frames from the packet, of codecs with blocks
  bool block_failed_ = false;           // the next one
  bool has_lost_ = false;               // FLAC: a frame in front of the next one
  double lost_end_s_ = 0.0;             // duration of the packets without sound behind the last frame
  std::optional<double> lost_start_s_;  // stamp of the first packet, if damage left no sound of it
  bool draining_ = false;
  uint64_t damaged_bytes_ = 0;  // as in PacketSource
  std::vector<Unheard> damaged_;
  int64_t failures_ = 0;    // as in PacketSource
  double packet_s_ = 0.02;  // duration of the last packet that states it
  double longest_packet_s_ = 0.0;
  double skipped_s_ = 0.0;
  double skip_s_ = 0.0;  // of skipped packets without sound in between
  double longest_skip_s_ = 0.0;
  Unheard skipped_{0, 0.0, "which the file tells players to skip"};
  bool ends_in_frame_ = false;  // FLAC, whose last frame is cut off
};

}  // namespace veravox
