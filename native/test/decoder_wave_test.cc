// SPDX-License-Identifier: Apache-2.0
// WAV files as found in practice, with expectations computed by hand, and headers with false fields.
#include <gtest/gtest.h>

#include <limits>

#include "decode/wave_source.h"
#include "decoder_media.h"
#include "decoder_wave_builder.h"

namespace veravox::test {
namespace {

const std::vector<int16_t> kRamp = {0, 16384, -16384, 32767, -32768, 1, -1, 8192};
const std::vector<float> kRampFloats = {0.0f,  0.5f,         -0.5f,         32767 / 32768.0f,
                                        -1.0f, 1 / 32768.0f, -1 / 32768.0f, 0.25f};

TEST(DecoderWaveTest, SampleFormats) {
  EXPECT_EQ(Decode(WaveBuilder{}.Build(kRamp)).samples, kRampFloats);
  EXPECT_EQ(Decode(WaveBuilder{.bits = 8}.Build<uint8_t>({128, 255, 0, 192})).samples,
            (std::vector<float>{0, 127 / 128.0f, -1, 0.5f}));
  EXPECT_EQ(
      Decode(WaveBuilder{.bits = 24}.Build<uint8_t>({0, 0, 0x40, 0, 0, 0x80, 1, 0, 0, 0xff, 0xff, 0xff}))
          .samples,
      (std::vector<float>{0.5f, -1, 1 / 8388608.0f, -1 / 8388608.0f}));
  EXPECT_EQ(Decode(WaveBuilder{.bits = 32}.Build<int32_t>({1 << 30, INT32_MIN})).samples,
            (std::vector<float>{0.5f, -1}));
  EXPECT_EQ(Decode(WaveBuilder{.tag = 3, .bits = 32}.Build<float>({0.25f, -1.5f})).samples,
            (std::vector<float>{0.25f, -1.5f}));
  EXPECT_EQ(Decode(WaveBuilder{.tag = 3, .bits = 64}.Build<double>({0.25, -0.125})).samples,
            (std::vector<float>{0.25f, -0.125f}));
}

TEST(DecoderWaveTest, Extensible) {
  WaveBuilder wave;
  wave.MakeExtensible(4);
  EXPECT_EQ(Decode(wave.Build(kRamp)).samples, kRampFloats);
}

TEST(DecoderWaveTest, Rf64AndBw64) {
  for (const char* riff : {"RF64", "BW64"}) {
    WaveBuilder wave{.stated_data_bytes = 0xffffffff, .riff = riff};
    wave.after_data = WaveBuilder::Chunk("LIST", 20);
    EXPECT_EQ(Decode(wave.Build(kRamp)).samples, kRampFloats) << riff;
  }
}

TEST(DecoderWaveTest, OddChunksBeforeAndAfter) {
  WaveBuilder wave;
  wave.before_data = WaveBuilder::Chunk("LIST", 27);
  const auto more = WaveBuilder::Chunk("\xff\x01?!", 1);
  wave.before_data.insert(wave.before_data.end(), more.begin(), more.end());
  wave.after_data = WaveBuilder::Chunk("id3 ", 333);
  EXPECT_EQ(Decode(wave.Build(kRamp)).samples, kRampFloats);
}

TEST(DecoderWaveTest, DataSizesOfStreamsRunToTheEnd) {
  for (const int64_t stated : {0u, 0x7ffff000u - 44u, 0x7ffff000u, 0x7fffff00u, 0x7fffffffu, 0x80000000u,
                               0xffffffffu - 44u, 0xffffffffu - 36u, 0xfffffffeu, 0xffffffffu}) {
    const Decoded decoded = Decode(WaveBuilder{.stated_data_bytes = stated}.Build(kRamp));
    EXPECT_EQ(decoded.samples, kRampFloats) << stated;
    EXPECT_EQ(decoded.damaged_packets, 0) << stated;
    EXPECT_FALSE(decoded.stated_length.has_value()) << stated;
  }
}

TEST(DecoderWaveTest, AnEmptyDataChunkIsNoStream) {
  WaveBuilder wave{.stated_data_bytes = 0};
  wave.after_data = WaveBuilder::Chunk("LIST", 400);
  EXPECT_EQ(DecodeError(wave.Build<int16_t>({})), ErrorCode::kUndecodable);
}

TEST(DecoderWaveTest, AMissingEndHasItsLengths) {
  const std::vector<int16_t> second(16'000, 7);
  for (const int64_t stated : {int64_t{64'000}, int64_t{0x10000000}}) {
    const Decoded decoded = Decode(WaveBuilder{.stated_data_bytes = stated}.Build(second));
    EXPECT_EQ(decoded.samples.size(), 16'000u);
    EXPECT_EQ(decoded.damaged_packets, 0);
    ASSERT_TRUE(decoded.stated_length.has_value());
    EXPECT_DOUBLE_EQ(decoded.stated_length->stated_s.value_or(0.0), static_cast<double>(stated) / 32'000);
    EXPECT_DOUBLE_EQ(decoded.stated_length->found_s, 1.0);
  }
  // Writers that count the header lose nothing.
  EXPECT_FALSE(Decode(WaveBuilder{.stated_data_bytes = 32'044}.Build(second)).stated_length.has_value());
  // A chunk that ends inside a sample.
  EXPECT_EQ(Decode(WaveBuilder{.stated_data_bytes = 7}.Build(kRamp)).samples.size(), 3u);
}

TEST(DecoderWaveTest, ChannelsAreMixedDown) {
  // Two equal channels give the same as one, and full scale stays full scale.
  EXPECT_EQ(Decode(WaveBuilder{.channels = 2}.Build<int16_t>({-32768, -32768, 16384, 16384, 16384, -16384}))
                .samples,
            (std::vector<float>{-1, 0.5f, 0}));
  // Without a mask, no channel is a low-frequency one: all count alike.
  const std::vector<int16_t> left_right_low = {16384, 0, 16384};
  const auto three = Decode(WaveBuilder{.channels = 3}.Build(left_right_low)).samples;
  ASSERT_EQ(three.size(), 1u);
  EXPECT_NEAR(three[0], 1.0f / 3.0f, 1e-6);
  WaveBuilder with_places{.channels = 3};
  with_places.MakeExtensible(0xb);
  const auto without_low = Decode(with_places.Build(left_right_low)).samples;
  ASSERT_EQ(without_low.size(), 1u);
  EXPECT_NEAR(without_low[0], 0.25f, 1e-6);
  const auto eleven = Decode(WaveBuilder{.channels = 11}.Build(std::vector<int16_t>(11, 16384))).samples;
  ASSERT_EQ(eleven.size(), 1u);
  EXPECT_NEAR(eleven[0], 0.5f, 1e-6);
  // Neither are places above the listeners left out: front left and right, top front left and right.
  WaveBuilder with_height{.channels = 4};
  with_height.MakeExtensible(0x5003);
  const auto above = Decode(with_height.Build(std::vector<int16_t>{0, 0, 0, 16384})).samples;
  ASSERT_EQ(above.size(), 1u);
  EXPECT_GT(above[0], 0.05f);
  // A lone low-frequency channel is not silenced.
  WaveBuilder low;
  low.MakeExtensible(8);
  EXPECT_EQ(Decode(low.Build(kRamp)).samples, kRampFloats);
}

TEST(DecoderWaveTest, WhatIsNoNumberBecomesZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Decode(WaveBuilder{.tag = 3, .bits = 32}.Build<float>({nan, 0.5f, infinity, -infinity})).samples,
            (std::vector<float>{0, 0.5f, 0, 0}));
  EXPECT_EQ(Decode(WaveBuilder{.tag = 3, .channels = 2, .bits = 32}.Build<float>({nan, 0.5f})).samples,
            (std::vector<float>{0}));
}

TEST(DecoderWaveTest, HeadersThatMakeNoSense) {
  const struct {
    const char* what;
    WaveBuilder wave;
    ErrorCode code;
  } cases[] = {
      {"rate 0", {.sample_rate_hz = 0}, ErrorCode::kUndecodable},
      {"rate 4294967295", {.sample_rate_hz = 0xffffffff}, ErrorCode::kUndecodable},
      {"rate 1 GHz", {.sample_rate_hz = 1000000000}, ErrorCode::kSampleRateOutOfRange},
      {"rate 100", {.sample_rate_hz = 100}, ErrorCode::kSampleRateOutOfRange},
      {"255 channels", {.channels = 255}, ErrorCode::kTooManyChannels},
      {"33 channels", {.channels = 33}, ErrorCode::kTooManyChannels},
      {"no channels", {.channels = 0}, ErrorCode::kUndecodable},
      {"unknown codec", {.tag = 0x7777}, ErrorCode::kUnsupportedFormat},
  };
  for (const auto& [what, wave, code] : cases) {
    const auto error = DecodeError(wave.Build(std::vector<int16_t>(1000)));
    EXPECT_EQ(error, code) << what << ": " << Describe(error);
  }
}

TEST(DecoderWaveTest, NoSamples) {
  EXPECT_EQ(DecodeError(WaveBuilder{}.Build<int16_t>({})), ErrorCode::kUndecodable);
  EXPECT_EQ(DecodeError(WaveBuilder{.channels = 2}.Build<int16_t>({1})), ErrorCode::kUndecodable);
  ByteVector no_data = WaveBuilder{}.Build(kRamp);
  no_data.resize(36);
  EXPECT_EQ(DecodeError(no_data), ErrorCode::kUndecodable);
}

TEST(DecoderWaveTest, EveryTruncationEndsWell) {
  WaveBuilder wave;
  wave.MakeExtensible(4);
  wave.before_data = WaveBuilder::Chunk("LIST", 5);
  const ByteVector whole = wave.Build(kRamp);
  for (size_t count = 0; count < whole.size(); ++count) {
    // Exactly sized, so that AddressSanitizer catches reads past the end.
    const ByteVector part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(count));
    const auto error = DecodeError(part);
    const bool has_a_sample = count >= whole.size() - kRamp.size() * 2 + 2;
    EXPECT_EQ(error.has_value(), !has_a_sample) << count << " bytes: " << Describe(error);
  }
}

TEST(DecoderWaveTest, SamplesThatFillAPartOfTheirContainer) {
  // 20 bits on the left of 24, in plain PCM and in the extensible form.
  for (const bool extensible : {false, true}) {
    WaveBuilder wave{.bits = 24};
    if (extensible) wave.MakeExtensible(4);
    if (extensible) wave.extension[2] = 20;
    if (!extensible) wave.bits = 20;
    wave.block_bytes = 3;
    EXPECT_EQ(Decode(wave.Build<uint8_t>({0, 0, 0x40, 0, 0, 0x80})).samples, (std::vector<float>{0.5f, -1}));
  }
}

}  // namespace
}  // namespace veravox::test
