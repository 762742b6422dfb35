// SPDX-License-Identifier: Apache-2.0
#include "decode/libav_source.h"

extern "C" {
#include <libavutil/crc.h>
}

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "decode/big_endian.h"
#include "decode/codec_allow_list.h"
#include "decode/file_tags.h"

namespace veravox {
namespace {

// A packet may be as large as its file: frames are mixed in pieces of this many samples.
constexpr int kBlockSamples = 16 * 1024;
// Ends files that promise packet after packet of audio but hold none, before the deadline would.
constexpr int kMaxDamagedInARow = 5000;

// Behind a FLAC frame that was dropped, a smaller jump is not a gap: stamps may be rounded to milliseconds.
constexpr double kLossToleranceS = 0.002;

// Allowed gap between stated and found length: durations are rounded, often to whole packets.
constexpr double kEndToleranceS = 0.1;

// Delays of encoders, which players skip, are shorter.
constexpr double kMostDelayS = 1.0;

// The longest frame that STREAMINFO (RFC 9639, section 8.2) states. Frames that libavcodec's encoder makes
// are far smaller than the default.
int64_t MostFlacFrameBytes(const AVCodecContext& codec) {
  constexpr size_t kAt = 7, kBytes = 3;
  constexpr int64_t kDefault = 256 * 1024;
  if (codec.extradata == nullptr || codec.extradata_size < static_cast<int>(kAt + kBytes)) return kDefault;
  const auto stated =
      static_cast<int64_t>(BigEndian(std::span<const uint8_t>(codec.extradata + kAt, kBytes)));
  return stated > 0 ? stated : kDefault;
}

// The bytes behind the intact FLAC frame that a packet begins with. Its checksum makes the remainder of all
// its bytes 0.
int64_t BytesBehindFlacFrame(std::span<const uint8_t> packet) {
  const AVCRC* table = av_crc_get_table(AV_CRC_16_ANSI);
  if (av_crc(table, 0, packet.data(), packet.size()) == 0) return 0;
  uint32_t crc = 0;
  size_t end = 0;
  for (size_t i = 0; i < packet.size(); ++i) {
    crc = av_crc(table, crc, &packet[i], 1);
    const bool may_end = crc == 0 && (end == 0 || packet.size() - i - 1 <= kFewBytes);
    if (may_end) end = i + 1;
  }
  const size_t behind = end == 0 ? 0 : packet.size() - end;
  return behind > kFewBytes ? static_cast<int64_t>(behind) : 0;
}

template <typename Handle>
Handle OrOutOfMemory(Handle handle) {
  if (!handle) throw StageError(ErrorCode::kInternal, "Out of memory for the decoder.");
  return handle;
}

CodecContextPtr OpenCodec(const PacketSource& packets) {
  const AVCodecParameters& parameters = packets.parameters();
  const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
  if (codec == nullptr || !IsAllowedDecoder(codec->name)) {
    throw StageError(ErrorCode::kUnsupportedFormat,
                     (parameters.codec_id == AV_CODEC_ID_NONE
                          ? std::string("The audio codec is unknown.")
                          : std::string("The audio codec ") + avcodec_get_name(parameters.codec_id) +
                                " is not supported."));
  }
  CodecContextPtr context = OrOutOfMemory(CodecContextPtr(avcodec_alloc_context3(codec)));
  int error = avcodec_parameters_to_context(context.get(), &parameters);
  context->pkt_timebase = packets.time_base();  // encoder delay and padding are cut by time stamps
  context->thread_count = 1;                    // parallel over files, not within one
  context->err_recognition = AV_EF_CRCCHECK;
  // It would play a frame with wrong bits; others fill the place and say so.
  if (parameters.codec_id == AV_CODEC_ID_FLAC) context->err_recognition |= AV_EF_EXPLODE;
  Options options;
  options.Set("codec_whitelist", kAllowedDecoders);
  if (error >= 0) error = avcodec_open2(context.get(), codec, options.address());
  if (error < 0) {
    throw StageError(
        ErrorCode::kUndecodable,
        std::string("The ") + codec->name + " stream cannot be decoded: " + LibavErrorText(error) + ".");
  }
  return context;
}

SampleFormat SampleFormatOf(const AVFrame& frame) {
  switch (av_get_packed_sample_fmt(static_cast<AVSampleFormat>(frame.format))) {
    case AV_SAMPLE_FMT_U8:
      return SampleFormat::kU8;
    case AV_SAMPLE_FMT_S16:
      return SampleFormat::kS16;
    case AV_SAMPLE_FMT_S32:
      return SampleFormat::kS32;
    case AV_SAMPLE_FMT_FLT:
      return SampleFormat::kF32;
    case AV_SAMPLE_FMT_DBL:
      return SampleFormat::kF64;
    default:
      throw StageError(ErrorCode::kInternal, "Unknown sample format " + std::to_string(frame.format) + ".");
  }
}

}  // namespace

LibavSource::LibavSource(std::unique_ptr<PacketSource> packets, const DecodeOptions& options,
                         const StopSignal& stop)
    : limits_(options.limits),
      stop_(stop),
      packets_(std::move(packets)),
      codec_(OpenCodec(*packets_)),
      packet_(OrOutOfMemory(PacketPtr(av_packet_alloc()))),
      frame_(OrOutOfMemory(FramePtr(av_frame_alloc()))),
      mixer_(options.channel) {
  CheckChannels(packets_->parameters().ch_layout.nb_channels, limits_);
}

bool LibavSource::Next(MonoBlock& block) {
  while (frame_position_ >= frame_->nb_samples) {
    if (!DecodeFrame()) return false;
  }
  if (silence_ > 0) {
    block = TakeSilence();
    return true;
  }
  const auto first = static_cast<size_t>(frame_position_);
  mono_.resize(static_cast<size_t>(std::min(frame_->nb_samples - frame_position_, kBlockSamples)));
  const auto format = static_cast<AVSampleFormat>(frame_->format);
  if (av_sample_fmt_is_planar(format)) {
    mixer_.MixPlanar(frame_->extended_data, first, mono_);
  } else {
    const int bytes_per_frame = av_get_bytes_per_sample(format) * frame_->ch_layout.nb_channels;
    mixer_.MixInterleaved(frame_->extended_data[0] + first * static_cast<size_t>(bytes_per_frame), mono_);
  }
  frame_position_ += static_cast<int>(mono_.size());
  const double share = static_cast<double>(mono_.size()) / frame_->nb_samples;
  block = {mono_, frame_->sample_rate, frame_bits_ * share};
  return true;
}

std::vector<Unheard> LibavSource::unheard() const {
  std::vector<Unheard> parts = packets_->unheard();
  parts.insert(parts.end(), damaged_.begin(), damaged_.end());
  if (skipped_s_ > kMostDelayS) parts.push_back(skipped_);
  return parts;
}

std::optional<StatedLength> LibavSource::stated_length() const {
  auto length = packets_->stated_length();
  const double heard_s = time_line_.position_s();
  if (!length && ends_in_frame_) return StatedLength{{}, heard_s};
  if (!length) return {};
  if (!length->stated_s) return StatedLength{{}, heard_s};
  // Encoder padding at both ends is in the packets, but is not heard.
  const double without_padding_s = heard_s + lost_end_s_;
  const double missing_s = *length->stated_s - std::max(length->found_s, without_padding_s);
  // AVI counts packets, of which the last may be shorter.
  const bool counts_packets = packets_->container_name() == std::string_view("avi");
  if (missing_s <= kEndToleranceS + (counts_packets ? longest_packet_s_ : 0.0)) return {};
  return StatedLength{without_padding_s + missing_s, heard_s};
}

MonoBlock LibavSource::TakeSilence() {
  static constexpr std::array<float, kBlockSamples> kSilence = {};
  stop_.ThrowIfStopped();
  const int64_t samples = std::min(silence_, int64_t{kBlockSamples});
  silence_ -= samples;
  return {.samples = std::span<const float>(kSilence).first(static_cast<size_t>(samples)),
          .sample_rate_hz = frame_->sample_rate,
          .silence_ahead = silence_};
}

// Decodes the next frame into frame_; it may be empty. False at the end of the stream, and if there is no
// packet yet.
bool LibavSource::DecodeFrame() {
  for (;;) {
    stop_.ThrowIfStopped();
    const int error = avcodec_receive_frame(codec_.get(), frame_.get());
    frame_position_ = 0;
    if (error >= 0) {
      TakeFrame();
      return true;
    }
    if (error == AVERROR_EOF || draining_) return false;
    if (error != AVERROR(EAGAIN)) {
      CountDamage();
      block_failed_ = true;
    }
    if (!SendPacket()) return false;
  }
}

// Gives the codec the next packet, or none at the end. False if the next one has not arrived yet.
bool LibavSource::SendPacket() {
  NoteSkippedPacket();
  const bool is_broken = packet_is_damaged_ && blocks_ == 0;
  const bool is_bare_flac = packets_->container_name() == std::string_view("flac");
  const int64_t lost_bytes = is_bare_flac ? LostFlacBytes() : 0;
  if (lost_bytes > 0) NoteDamage(lost_bytes);
  if (is_broken && !has_blocks()) lost_end_s_ += packet_s_;
  has_lost_ = has_lost_ || (is_broken && codec_->codec_id == AV_CODEC_ID_FLAC);
  const bool is_lost_start = is_broken && channels_ == 0 && !lost_start_s_;
  // Time before 0 is a delay of the encoder.
  if (is_lost_start && packet_->pts != AV_NOPTS_VALUE) lost_start_s_ = std::max(StampS(packet_->pts), 0.0);
  packet_is_damaged_ = false;
  const bool has_packet = PassDamagedBlock() || packets_->Next(*packet_);
  blocks_ = 0;
  block_failed_ = false;
  NoteDamagedBytes();
  NoteFailures();
  if (!has_packet) {
    if (packets_->is_waiting()) return false;
    draining_ = true;
    // The last frame of a complete file nearly always has fewer samples than the others: it is damaged.
    ends_in_frame_ = is_bare_flac && is_broken && lost_bytes == 0 && packet_s_ >= longest_packet_s_;
    packet_bits_ = 0;
    avcodec_send_packet(codec_.get(), nullptr);
    return true;
  }
  // Replaces the rest: audio that the codec drops, such as its own delay, is not heard.
  packet_bits_ = int64_t{8} * packet_->size;
  // Packets to skip may have a duration of one unit.
  if (packet_->duration > 1)
    packet_s_ = static_cast<double>(packet_->duration) * av_q2d(packets_->time_base());
  longest_packet_s_ = std::max(longest_packet_s_, packet_s_);
  const int error = avcodec_send_packet(codec_.get(), packet_.get());
  block_failed_ = error < 0;
  if ((packet_->flags & AV_PKT_FLAG_CORRUPT) != 0 || error < 0) CountDamage();
  return true;
}

// ADPCM, of which each block can be decoded without the others.
bool LibavSource::has_blocks() const { return codec_->block_align > 0 && codec_name().starts_with("adpcm"); }

// The parser makes one packet of a frame, or of damage, and of all up to the next frame or up to the end.
int64_t LibavSource::LostFlacBytes() const {
  int64_t bytes = packet_->size;
  if (blocks_ == 0) return packet_is_damaged_ && bytes > MostFlacFrameBytes(*codec_) ? bytes : 0;
  for (int frames = blocks_; frames > 0 && bytes > 0; --frames) {
    bytes = BytesBehindFlacFrame({packet_->data + packet_->size - bytes, static_cast<size_t>(bytes)});
  }
  return bytes;
}

// The decoder drops a packet from its damaged block on; the blocks behind it are sent again.
bool LibavSource::PassDamagedBlock() {
  if (!block_failed_ || !has_blocks()) return false;
  const int64_t end = int64_t{codec_->block_align} * (blocks_ + 1);
  if (end >= packet_->size) return false;
  packet_->data += end;
  packet_->size -= static_cast<int>(end);
  packet_->pts = packet_->dts = AV_NOPTS_VALUE;
  return true;
}

// Without damage, a packet without audio lies in a stretch that the file tells players to skip.
void LibavSource::NoteSkippedPacket() {
  if (blocks_ > 0 || packet_is_damaged_) return;
  if (packet_bits_ == 0) return;
  const double at_s = time_line_.position_s();
  skip_s_ = at_s == skipped_.until_s ? skip_s_ + packet_s_ : packet_s_;
  // Delays of encoders are also skipped, at other places.
  if (skip_s_ > longest_skip_s_) {
    longest_skip_s_ = skip_s_;
    skipped_.at_s = at_s;
  }
  skipped_.until_s = at_s;
  skipped_.bytes += packet_bits_ / 8;
  skipped_s_ += packet_s_;
  packet_bits_ = 0;
}

// They are not the next packet's.
void LibavSource::NoteFailures() {
  if (packets_->failures() == failures_) return;
  failures_ = packets_->failures();
  CountDamage();
  packet_is_damaged_ = false;
}

void LibavSource::NoteDamagedBytes() {
  const auto bytes = static_cast<int64_t>(packets_->damaged_bytes() - damaged_bytes_);
  damaged_bytes_ = packets_->damaged_bytes();
  if (bytes > 0) NoteDamage(bytes);
}

void LibavSource::NoteDamage(int64_t bytes) {
  AddUnheard(damaged_, {bytes, time_line_.position_s(), kDamagedData});
}

// Over the gap behind them.
void LibavSource::StretchUnheard(double begin_s, double end_s) {
  const auto stretch = [&](Unheard& part) {
    if (std::max(part.at_s, part.until_s) == begin_s) part.until_s = end_s;
  };
  std::ranges::for_each(damaged_, stretch);
  stretch(skipped_);
}

void LibavSource::TakeFrame() {
  if ((frame_->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame_->decode_error_flags != 0) CountDamage();
  if (frame_->nb_samples <= 0) return;
  damaged_in_a_row_ = 0;
  lost_end_s_ = 0.0;
  ++blocks_;
  const bool is_first = channels_ == 0;
  channels_ = frame_->ch_layout.nb_channels;
  CheckChannels(channels_, limits_);
  mixer_.SetInput(SampleFormatOf(*frame_), frame_->ch_layout);
  frame_bits_ = TakeFrameBits();
  if (frame_->pts != AV_NOPTS_VALUE) {
    const double tolerance_s = has_lost_ ? kLossToleranceS : TimeLine::kToleranceS;
    const auto silence_before = [&](double stamp_s) {
      return time_line_.SilenceBefore(stamp_s, packets_->origin_s(), frame_->sample_rate, tolerance_s);
    };
    // The time line begins with it.
    if (is_first && lost_start_s_) silence_before(*lost_start_s_);
    silence_ = silence_before(StampS(frame_->pts));
    has_lost_ = false;
  }
  const double begin_s = time_line_.position_s();
  time_line_.Append(silence_, frame_->sample_rate);
  if (silence_ > 0) StretchUnheard(begin_s, time_line_.position_s());
  time_line_.Append(frame_->nb_samples, frame_->sample_rate);
}

// A packet gives one frame, except for ADPCM: one per block.
double LibavSource::TakeFrameBits() {
  int64_t bits = packet_bits_;
  if (has_blocks()) bits = std::min(bits, int64_t{8} * codec_->block_align);
  packet_bits_ -= bits;
  return static_cast<double>(bits);
}

// Counts a packet once, whether the demuxer, the decoder or both complain.
void LibavSource::CountDamage() {
  if (packet_is_damaged_) return;
  packet_is_damaged_ = true;
  ++damaged_packets_;
  if (++damaged_in_a_row_ > kMaxDamagedInARow) {
    throw StageError(ErrorCode::kUndecodable, "More than " + std::to_string(kMaxDamagedInARow) +
                                                  " packets in a row could not be decoded.");
  }
}

}  // namespace veravox
