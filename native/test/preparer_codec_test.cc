// SPDX-License-Identifier: Apache-2.0
// Each window states how its sound was coded: the codec's name, and the bits of the busiest second.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bursts.h"
#include "decode/codec_allow_list.h"
#include "decoder_media.h"
#include "decoder_wave_builder.h"
#include "prepare/preparer.h"

namespace veravox::test {
namespace {

std::vector<PreparedInput> InputsOf(std::span<const uint8_t> bytes, const DecodeOptions& decode = {}) {
  Preparer preparer(SmallInputs());
  preparer.Open(bytes, {.decode = decode, .min_duration_s = 0.1}, StopSignal());
  std::vector<PreparedInput> inputs;
  std::vector<float> output(preparer.input_size());
  for (PreparedInput input; preparer.Next(output, input);) inputs.push_back(input);
  preparer.Close();
  return inputs;
}

// Files of the special media last 2 s: the rate is that of their busiest second.
PreparedInput FirstOf(const std::string& name) { return InputsOf(MediaNamed("special", name).bytes()).at(0); }

std::vector<uint8_t> MuLaw(double seconds, uint16_t channels = 1) {
  WaveBuilder wave;
  wave.tag = 7;
  wave.bits = 8;
  wave.channels = channels;
  wave.sample_rate_hz = 8000;
  std::vector<uint8_t> samples(static_cast<size_t>(seconds * 8000) * channels);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<uint8_t>(i * 7);
  return wave.Build(samples);
}

TEST(PreparerCodecTest, AllLossyCodecsHaveTheirName) {
  const std::map<std::string, std::string> codecs = {
      {"alaw.wav", "pcm_alaw"},
      {"mulaw.wav", "pcm_mulaw"},
      {"gsm.wav", "gsm_ms"},
      {"adpcm-ms.wav", "adpcm_ms"},
      {"adpcm-ima.wav", "adpcm_ima_wav"},
      {"adpcm-ima.mov", "adpcm_ima_qt"},
      {"mp3-inside.wav", "mp3"},
      {"vbr.mp3", "mp3"},
      {"layer2.mp2", "mp2"},
      {"fragmented.mp4", "aac"},
      {"opus-inside.mp4", "opus"},
      {"ac3.mkv", "ac3"},
      {"eac3.mkv", "eac3"},
  };
  std::set<std::string_view> named;
  for (const auto& [file, codec] : codecs) {
    const PreparedInput input = FirstOf(file);
    EXPECT_EQ(input.codec, codec) << file;
    EXPECT_GT(input.coded_bits_per_s, 10'000.0) << file;
    EXPECT_LT(input.coded_bits_per_s, 1'000'000.0) << file;
    named.insert(input.codec);
  }
  const MediaFile vorbis = MediaNamed("lasting", "lasting.ogg");
  named.insert(InputsOf(vorbis.bytes()).at(0).codec);
  EXPECT_EQ(named, std::set<std::string_view>(std::begin(kLossyCodecs), std::end(kLossyCodecs)));
}

TEST(PreparerCodecTest, SoundWithoutLossHasNoCodec) {
  for (const char* file : {"u8.wav", "f64.wav", "24-bit.flac", "flac.ogg", "flac-inside.mp4", "u8.mov",
                           "pcm-s24.mkv", "pcm.avi"}) {
    const PreparedInput input = FirstOf(file);
    EXPECT_EQ(input.codec, "") << file;
    EXPECT_EQ(input.coded_bits_per_s, 0.0) << file;
  }
}

// The decoder gives several frames of one packet, or one long frame in pieces.
TEST(PreparerCodecTest, ConstantRatesAreExact) {
  const std::map<std::string, double> rates = {
      {"alaw.wav", 64'000.0},
      {"mulaw.wav", 64'000.0},
      {"gsm.wav", 13'000.0},
      // 34 bytes per channel for 64 samples.
      {"adpcm-ima.mov", 44'100.0 * 2 * 34 * 8 / 64},
  };
  for (const auto& [file, rate] : rates)
    EXPECT_NEAR(FirstOf(file).coded_bits_per_s, rate, 0.002 * rate) << file;
  for (const PreparedInput& input : InputsOf(MuLaw(43.0))) {
    EXPECT_NEAR(input.coded_bits_per_s, 64'000.0, 1.0) << input.start_s;
  }
}

// Blocks of 2048 bytes; both channels in the first 8 bytes give a sample each, the others 4 bits per sample.
TEST(PreparerCodecTest, EachBlockOfAdpcmHasItsOwnBits) {
  for (const PreparedInput& input : InputsOf(MediaNamed("lasting", "lasting-adpcm.wav").bytes())) {
    EXPECT_EQ(input.codec, "adpcm_ima_wav");
    EXPECT_NEAR(input.coded_bits_per_s, 2 * 4 * 44'100.0, 0.02 * 2 * 4 * 44'100.0) << input.start_s;
  }
}

TEST(PreparerCodecTest, VariableRatesAreNearThatOfTheFile) {
  for (const char* name : {"lasting.mp3", "lasting.m4a", "lasting.opus", "lasting.ogg"}) {
    const ByteVector bytes = MediaNamed("lasting", name).bytes();
    const double mean = 8.0 * static_cast<double>(bytes.size()) / 27.3;
    for (const PreparedInput& input : InputsOf(bytes)) {
      EXPECT_GT(input.coded_bits_per_s, 0.8 * mean) << name << " at " << input.start_s;
      EXPECT_LT(input.coded_bits_per_s, 1.6 * mean) << name << " at " << input.start_s;
    }
  }
}

TEST(PreparerCodecTest, RegionsAndSingleChannelsHaveTheRateOfTheStream) {
  const std::vector<uint8_t> stereo = MuLaw(20.0, 2);
  for (const DecodeOptions& decode :
       {DecodeOptions{}, DecodeOptions{.region = {3.21, 14.5}}, DecodeOptions{.channel = 1}}) {
    const std::vector<PreparedInput> inputs = InputsOf(stereo, decode);
    ASSERT_FALSE(inputs.empty());
    for (const PreparedInput& input : inputs) {
      EXPECT_EQ(input.codec, "pcm_mulaw");
      EXPECT_NEAR(input.coded_bits_per_s, 128'000.0, 2.0) << input.start_s;
    }
  }
}

TEST(PreparerCodecTest, TheNextFileHasItsOwnCodec) {
  Preparer preparer(SmallInputs());
  std::vector<float> output(preparer.input_size());
  PreparedInput input;
  const std::vector<uint8_t> coded = MuLaw(6.0);
  preparer.Open(coded, {}, StopSignal());
  ASSERT_TRUE(preparer.Next(output, input));
  EXPECT_EQ(input.codec, "pcm_mulaw");
  const std::vector<uint8_t> plain = WaveBuilder{}.Build(Bursts(6.0, 16000));
  preparer.Open(plain, {}, StopSignal());
  ASSERT_TRUE(preparer.Next(output, input));
  EXPECT_EQ(input.codec, "");
  EXPECT_EQ(input.coded_bits_per_s, 0.0);
  preparer.OpenLive({}, {});
  preparer.Push({plain.data() + 44, 2 * 16000 * 5});
  ASSERT_TRUE(preparer.Next(output, input));
  EXPECT_EQ(input.codec, "");
}

}  // namespace
}  // namespace veravox::test
