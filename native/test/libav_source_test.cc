// SPDX-License-Identifier: Apache-2.0
// Times and places of packets that give no sound.
#include "decode/libav_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "decoder_media.h"

namespace veravox::test {
namespace {

constexpr int kRateHz = 16000;
constexpr int kPacketSamples = 320;  // 20 ms

enum class Kind { kSound, kSkipped, kBroken };

// PCM, whose packets all have a time stamp.
class PcmPackets final : public PacketSource {
 public:
  explicit PcmPackets(std::vector<Kind> packets) : packets_(std::move(packets)) {
    parameters_->codec_type = AVMEDIA_TYPE_AUDIO;
    parameters_->codec_id = AV_CODEC_ID_PCM_S16LE;
    parameters_->sample_rate = kRateHz;
    av_channel_layout_default(&parameters_->ch_layout, 1);
  }
  ~PcmPackets() override { avcodec_parameters_free(&parameters_); }

  const char* container_name() const override { return "test"; }
  double progress() const override { return 0.0; }
  double origin_s() const override { return std::numeric_limits<double>::infinity(); }
  AVRational time_base() const override { return {1, kRateHz}; }
  const AVCodecParameters& parameters() const override { return *parameters_; }

  bool Next(AVPacket& packet) override {
    av_packet_unref(&packet);
    if (next_ == packets_.size()) return false;
    const Kind kind = packets_[next_];
    av_new_packet(&packet, kind == Kind::kBroken ? 1 : kPacketSamples * 2);
    std::fill_n(packet.data, packet.size, uint8_t{1});
    packet.pts = packet.dts = static_cast<int64_t>(next_) * kPacketSamples;
    packet.duration = kPacketSamples;
    if (kind == Kind::kSkipped) {
      uint8_t* skip = av_packet_new_side_data(&packet, AV_PKT_DATA_SKIP_SAMPLES, 10);
      std::fill_n(skip, 10, uint8_t{0});
      skip[4] = kPacketSamples & 0xff;  // from the end
      skip[5] = kPacketSamples >> 8;
    }
    ++next_;
    return true;
  }

 private:
  const std::vector<Kind> packets_;
  size_t next_ = 0;
  AVCodecParameters* parameters_ = avcodec_parameters_alloc();
};

Decoded DecodePackets(const std::vector<std::pair<int, Kind>>& runs) {
  std::vector<Kind> packets;
  for (const auto& [count, kind] : runs) packets.insert(packets.end(), static_cast<size_t>(count), kind);
  const StopSignal never;
  LibavSource source(std::make_unique<PcmPackets>(packets), {}, never);
  return DrainSource(source);
}

TEST(LibavSourceTest, SkippedPacketsAreNamedWhereMostOfThemAre) {
  // A tenth of a second of the encoder's delay, five behind 10 s of sound, and one packet at the end.
  const Decoded decoded = DecodePackets({{5, Kind::kSkipped},
                                         {500, Kind::kSound},
                                         {250, Kind::kSkipped},
                                         {500, Kind::kSound},
                                         {1, Kind::kSkipped}});
  ASSERT_EQ(decoded.unheard.size(), 1u);
  EXPECT_EQ(decoded.unheard[0].bytes, 256 * kPacketSamples * 2);
  EXPECT_NEAR(decoded.unheard[0].at_s, 10.0, 0.01);
}

TEST(LibavSourceTest, TimesCountFromALostStart) {
  const Decoded decoded =
      DecodePackets({{50, Kind::kBroken}, {20, Kind::kSound}, {50, Kind::kBroken}, {30, Kind::kSound}});
  EXPECT_EQ(decoded.samples.size(), 150u * kPacketSamples);
  EXPECT_EQ(decoded.samples[50 * kPacketSamples - 1], 0.0f);
  EXPECT_NE(decoded.samples[50 * kPacketSamples], 0.0f);
}

TEST(LibavSourceTest, TimesOfFlacCountFromALostStart) {
  ByteVector bytes = MediaNamed("long", "long.flac").bytes();
  const size_t whole = Decode(bytes).samples.size();
  constexpr uint8_t kSync[] = {0xff, 0xf8};
  const auto first = std::search(bytes.begin(), bytes.end(), std::begin(kSync), std::end(kSync));
  // Some bits in each frame.
  for (auto i = first + 100; i < first + 100'000; i += 500) *i ^= 1;
  const Decoded decoded = Decode(bytes);
  EXPECT_GT(decoded.damaged_packets, 5);
  EXPECT_EQ(decoded.samples.size(), whole);
}

}  // namespace
}  // namespace veravox::test
