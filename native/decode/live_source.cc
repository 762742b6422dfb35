// SPDX-License-Identifier: Apache-2.0
#include "decode/live_source.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "decode/libav_source.h"
#include "decode/mono_mixer.h"
#include "decode/packet_source.h"
#include "decode/wave_file.h"
#include "decode/wave_samples.h"

namespace veravox {
namespace {

class LiveSamples final : public AudioSource, public LiveSource {
 public:
  LiveSamples(WaveCoding coding, std::string codec_name, int sample_rate_hz)
      : sample_bytes_(SampleBytes(coding)),
        codec_name_(std::move(codec_name)),
        sample_rate_hz_(sample_rate_hz),
        samples_(coding, false) {
    AVChannelLayout mono = {};
    mono.order = AV_CHANNEL_ORDER_UNSPEC;
    mono.nb_channels = 1;
    mixer_.SetInput(samples_.format(), mono);
  }

  void Push(std::span<const uint8_t> piece) override {
    if (piece.size() % sample_bytes_ != 0) throw StageError(ErrorCode::kInternal, "Expected whole samples.");
    bytes_.insert(bytes_.end(), piece.begin(), piece.end());
  }
  void Finish() override { finished_ = true; }

  bool Next(MonoBlock& block) override {
    if (bytes_.empty()) return false;
    const size_t left = (bytes_.size() - read_) / sample_bytes_;
    mono_.resize(std::min(left, kBlockSamples));
    mixer_.MixInterleaved(samples_.Convert(bytes_.data() + read_, mono_.size()), mono_);
    const size_t block_bytes = mono_.size() * sample_bytes_;
    read_ += block_bytes;
    if (mono_.size() == left) {
      std::vector<uint8_t>().swap(bytes_);
      read_ = 0;
    }
    block = {mono_, sample_rate_hz_, static_cast<double>(block_bytes) * 8.0};
    return true;
  }
  bool is_waiting() const override { return bytes_.empty() && !finished_; }
  int64_t damaged_packets() const override { return 0; }
  int channels() const override { return 1; }
  double progress() const override { return 0.0; }
  std::string container_name() const override { return "live"; }
  std::string codec_name() const override { return codec_name_; }

 private:
  // A stream keeps the memory of one block, not of all audio that ever arrived at once.
  static constexpr size_t kBlockSamples = 16384;

  const size_t sample_bytes_;
  const std::string codec_name_;
  const int sample_rate_hz_;
  WaveSamples samples_;
  MonoMixer mixer_;
  std::vector<uint8_t> bytes_;
  size_t read_ = 0;  // of them
  std::vector<float> mono_;
  bool finished_ = false;
};

// Samples of an Opus packet at 48 kHz (RFC 6716, section 3.1); 0 if unknown.
int64_t OpusSamples(std::span<const uint8_t> packet) {
  constexpr int64_t kMostSamples = 5760;
  if (packet.empty()) return 0;
  const int mode = packet[0] >> 3;
  int64_t frame_samples = 120 << (mode & 3);                                  // CELT: 2.5 to 20 ms
  if (mode < 16) frame_samples = 480 << (mode & 1);                           // hybrid: 10 or 20 ms
  if (mode < 12) frame_samples = std::array{480, 960, 1920, 2880}[mode & 3];  // SILK
  int64_t frames = (packet[0] & 3) == 0 ? 1 : 2;
  if ((packet[0] & 3) == 3) frames = packet.size() > 1 ? packet[1] & 0x3f : 0;
  const int64_t samples = frames * frame_samples;
  return samples <= kMostSamples ? samples : 0;
}

// Opus packets, with the fields of an Ogg header.
class LiveOpusPackets final : public PacketSource {
 public:
  LiveOpusPackets(int channels, int pre_skip) : pre_skip_(pre_skip), parameters_(avcodec_parameters_alloc()) {
    SetUpLibavOnce();
    // RFC 7845, section 5.1: magic, version, channels, pre-skip, input rate, gain, mapping family.
    const uint8_t header[] = {'O', 'p', 'u', 's', 'H', 'e', 'a', 'd', 1, static_cast<uint8_t>(channels),
                              static_cast<uint8_t>(pre_skip & 0xff), static_cast<uint8_t>(pre_skip >> 8),
                              // 48000
                              0x80, 0xbb, 0, 0, 0, 0, 0};
    auto* extra_data = static_cast<uint8_t*>(av_mallocz(sizeof header + AV_INPUT_BUFFER_PADDING_SIZE));
    if (!parameters_ || extra_data == nullptr) {
      av_free(extra_data);
      throw StageError(ErrorCode::kInternal, "Out of memory for the decoder.");
    }
    std::copy(std::begin(header), std::end(header), extra_data);
    parameters_->extradata = extra_data;
    parameters_->extradata_size = sizeof header;
    parameters_->codec_type = AVMEDIA_TYPE_AUDIO;
    parameters_->codec_id = AV_CODEC_ID_OPUS;
    parameters_->sample_rate = kRateHz;
    av_channel_layout_default(&parameters_->ch_layout, channels);
  }

  const AVCodecParameters& parameters() const override { return *parameters_; }
  AVRational time_base() const override { return {1, kRateHz}; }
  double origin_s() const override { return std::numeric_limits<double>::infinity(); }
  const char* container_name() const override { return "live"; }
  double progress() const override { return 0.0; }

  bool Next(AVPacket& packet) override {
    av_packet_unref(&packet);
    if (packets_.empty()) return false;
    const std::vector<uint8_t> bytes = std::move(packets_.front());
    packets_.pop_front();
    if (av_new_packet(&packet, static_cast<int>(bytes.size())) < 0) OutOfMemory();
    std::copy(bytes.begin(), bytes.end(), packet.data);
    if (pre_skip_ > 0) SkipStart(packet);
    // A packet that cannot be decoded leaves a gap.
    packet.pts = next_stamp_;
    next_stamp_ += OpusSamples(bytes);
    return true;
  }
  bool is_waiting() const override { return packets_.empty() && !finished_; }

  void Push(std::span<const uint8_t> piece) { packets_.emplace_back(piece.begin(), piece.end()); }
  void Finish() { finished_ = true; }

 private:
  static constexpr int kRateHz = 48000;

  [[noreturn]] static void OutOfMemory() {
    throw StageError(ErrorCode::kInternal, "Out of memory for a packet.");
  }

  void SkipStart(AVPacket& packet) {
    // Samples to skip at the start and the end, 32 bits each, and two reasons.
    constexpr size_t kSideDataBytes = 10;
    uint8_t* skip = av_packet_new_side_data(&packet, AV_PKT_DATA_SKIP_SAMPLES, kSideDataBytes);
    if (skip == nullptr) OutOfMemory();
    std::fill_n(skip, kSideDataBytes, uint8_t{0});
    skip[0] = static_cast<uint8_t>(pre_skip_ & 0xff);
    skip[1] = static_cast<uint8_t>(pre_skip_ >> 8);
    pre_skip_ = 0;
  }

  int pre_skip_;
  int64_t next_stamp_ = 0;
  const std::unique_ptr<AVCodecParameters, LibavDeleter<avcodec_parameters_free>> parameters_;
  std::deque<std::vector<uint8_t>> packets_;
  bool finished_ = false;
};

class LiveOpus final : public AudioSource, public LiveSource {
 public:
  LiveOpus(const LiveFormat& format, const DecodeOptions& options, const StopSignal& stop)
      : LiveOpus(std::make_unique<LiveOpusPackets>(format.channels, format.pre_skip), options, stop) {}

  void Push(std::span<const uint8_t> piece) override { packets_.Push(piece); }
  void Finish() override { packets_.Finish(); }

  bool Next(MonoBlock& block) override { return source_.Next(block); }
  bool is_waiting() const override { return source_.is_waiting(); }
  int64_t damaged_packets() const override { return source_.damaged_packets(); }
  bool has_inverted_channels() const override { return source_.has_inverted_channels(); }
  int channels() const override { return source_.channels(); }
  double progress() const override { return source_.progress(); }
  std::string container_name() const override { return source_.container_name(); }
  std::string codec_name() const override { return source_.codec_name(); }

 private:
  LiveOpus(std::unique_ptr<LiveOpusPackets> packets, const DecodeOptions& options, const StopSignal& stop)
      : packets_(*packets), source_(std::move(packets), options, stop) {}

  LiveOpusPackets& packets_;  // of source_
  LibavSource source_;
};

template <typename Source, typename... Args>
LiveInput Make(Args&&... args) {
  auto source = std::make_unique<Source>(std::forward<Args>(args)...);
  LiveSource* pieces = source.get();
  return {std::move(source), pieces};
}

}  // namespace

LiveInput MakeLiveInput(const LiveFormat& format, const DecodeOptions& options, const StopSignal& stop) {
  switch (format.encoding) {
    case LiveFormat::Encoding::kPcm16:
      return Make<LiveSamples>(WaveCoding::kS16, "pcm_s16le", format.sample_rate_hz);
    case LiveFormat::Encoding::kMuLaw:
      return Make<LiveSamples>(WaveCoding::kMuLaw, "pcm_mulaw", format.sample_rate_hz);
    case LiveFormat::Encoding::kALaw:
      return Make<LiveSamples>(WaveCoding::kALaw, "pcm_alaw", format.sample_rate_hz);
    case LiveFormat::Encoding::kOpus:
      return Make<LiveOpus>(format, options, stop);
  }
  throw StageError(ErrorCode::kInternal, "Unknown encoding.");
}

}  // namespace veravox
