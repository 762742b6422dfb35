// SPDX-License-Identifier: Apache-2.0
// Regions and single channels decode like a file with only that part.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "decode/region_source.h"
#include "decoder_media.h"
#include "decoder_wave_builder.h"
#include "prepare/preparer.h"

namespace veravox::test {
namespace {

DecodeOptions Region(double start_s, std::optional<double> end_s = {}) {
  return {.region = {start_s, end_s}};
}

// Every sample tells its position.
std::vector<uint8_t> Ramp(int64_t samples, uint16_t channels = 1) {
  std::vector<float> values;
  for (int64_t i = 0; i < samples; ++i) {
    for (uint16_t c = 0; c < channels; ++c) {
      values.push_back(static_cast<float>(i + 1) / 1e6f + static_cast<float>(c) / 4.0f);
    }
  }
  WaveBuilder wave;
  wave.tag = 3;
  wave.bits = 32;
  wave.channels = channels;
  wave.sample_rate_hz = 8000;
  return wave.Build(values);
}

std::vector<float> Part(const std::vector<float>& whole, size_t begin, size_t end) {
  return {whole.begin() + static_cast<ptrdiff_t>(begin), whole.begin() + static_cast<ptrdiff_t>(end)};
}

TEST(RegionTest, RefusesWhatTheAudioDoesNotHave) {
  const auto wave = Ramp(80'000);  // 10 s
  for (const auto& options :
       {Region(10.0), Region(11.0, 12.0), Region(9.0, 10.5), Region(0.0, 1e12), Region(1e12)}) {
    try {
      Decode(wave, options);
      ADD_FAILURE() << options.region.start_s << " was accepted";
    } catch (const StageError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kOutOfRange) << options.region.start_s;
      EXPECT_DOUBLE_EQ(error.measured_s(), 10.0) << options.region.start_s;
    }
  }
  EXPECT_EQ(DecodeError(wave, Region(5.0, 5.00001)), ErrorCode::kTooShort);
  EXPECT_EQ(DecodeError(MediaNamed("matrix", "mp3-stereo-44100.mp3").bytes(), Region(1000.0, 1001.0)),
            ErrorCode::kOutOfRange);
}

TEST(RegionTest, TakesARoundedEnd) {
  const auto wave = Ramp(80'000);
  EXPECT_EQ(Decode(wave, Region(9.0, 10.009)).samples.size(), 8000u);
  EXPECT_EQ(DecodeError(wave, Region(9.0, 10.011)), ErrorCode::kOutOfRange);
}

TEST(RegionTest, IsCutAtTheNearestSamples) {
  const auto wave = Ramp(80'000);
  const std::vector<float> whole = Decode(wave).samples;
  EXPECT_EQ(Decode(wave, Region(0.0)).samples, whole);
  EXPECT_EQ(Decode(wave, Region(2.5, 7.25)).samples, Part(whole, 20'000, 58'000));
  EXPECT_EQ(Decode(wave, Region(2.50006, 7.24994)).samples, Part(whole, 20'000, 58'000));
  EXPECT_EQ(Decode(wave, Region(2.50007, 7.24993)).samples, Part(whole, 20'001, 57'999));
  EXPECT_EQ(Decode(wave, Region(9.5)).samples, Part(whole, 76'000, 80'000));
}

TEST(RegionTest, IsTheSamePartOfEveryFormat) {
  for (const char* name : {"wav-stereo-44100.wav", "mp3-stereo-44100.mp3", "flac-stereo-44100.flac",
                           "mkv-stereo-44100.mkv", "ogg-vorbis-stereo-44100.ogg"}) {
    const ByteVector bytes = MediaNamed("matrix", name).bytes();
    const Decoded whole = Decode(bytes);
    const auto rate_hz = static_cast<double>(whole.rates_hz.at(0));
    const double duration_s = static_cast<double>(whole.samples.size()) / rate_hz;
    const double start_s = duration_s * 0.3;
    const double end_s = duration_s * 0.7;
    const auto begin = static_cast<size_t>(std::llround(start_s * rate_hz));
    const auto end = static_cast<size_t>(std::llround(end_s * rate_hz));
    EXPECT_EQ(Decode(bytes, Region(start_s, end_s)).samples, Part(whole.samples, begin, end)) << name;
  }
}

TEST(RegionTest, ReadsNothingAfterItsEnd) {
  // The file breaks off after 10 of 20 s.
  const std::vector<float> silence(80'000, 0.25f);
  WaveBuilder wave;
  wave.tag = 3;
  wave.bits = 32;
  wave.sample_rate_hz = 8000;
  wave.stated_data_bytes = 160'000 * 4;
  const auto bytes = wave.Build(silence);
  EXPECT_TRUE(Decode(bytes).stated_length.has_value());
  EXPECT_TRUE(Decode(bytes, Region(1.0)).stated_length.has_value());
  EXPECT_FALSE(Decode(bytes, Region(1.0, 9.0)).stated_length.has_value());
}

// Lost audio counts as silence, in which the region begins.
TEST(RegionTest, TellsOfDamageInWhichItBegins) {
  const ByteVector bytes = MediaNamed("long", "long.flac").bytes();
  const double whole_s = static_cast<double>(Decode(bytes).samples.size()) / 16000;
  const auto at = [&](double share) {
    return bytes.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(bytes.size()));
  };
  const size_t hole_bytes = static_cast<size_t>(at(0.5) - at(0.3));
  const ByteVector holed =
      Joined({{bytes.begin(), at(0.3)}, ByteVector(hole_bytes, 0), {at(0.5), bytes.end()}});
  const ByteVector front = MediaNamed("matrix", "flac-stereo-44100.flac").bytes();
  const double front_s = static_cast<double>(Decode(front).samples.size()) / 44100;
  ByteVector spoilt = bytes;
  // Some bits in each frame.
  for (auto i = at(0.3); i < at(0.5); i += 500) spoilt[static_cast<size_t>(i - bytes.begin())] ^= 1;
  for (const double share : {0.4, 0.6}) {
    const double start_s = share * whole_s;
    const bool is_inside = share < 0.5;
    EXPECT_EQ(Decode(holed, Region(start_s)).unheard.size(), is_inside) << share;
    EXPECT_EQ(Decode(Joined({front, holed}), Region(front_s + start_s)).unheard.size(), is_inside) << share;
    EXPECT_EQ(Decode(spoilt, Region(start_s)).damaged_packets > 0, is_inside) << share;
  }
}

TEST(RegionTest, CountsOnlyItselfForTheLongestDuration) {
  const auto wave = Ramp(80'000);
  DecodeOptions options = Region(5.0, 7.0);
  options.limits.max_duration_s = 2.0;
  EXPECT_EQ(Decode(wave, options).samples.size(), 16'000u);
  options.region.end_s = 7.1;
  EXPECT_EQ(DecodeError(wave, options), ErrorCode::kTooLong);
}

TEST(RegionTest, GoesOnAfterASavedState) {
  for (const bool is_wave : {true, false}) {
    const ByteVector bytes =
        is_wave ? ByteVector(Ramp(80'000)) : MediaNamed("matrix", "mp3-stereo-44100.mp3").bytes();
    const DecodeOptions options = is_wave ? Region(1.0, 9.0) : Region(0.25);
    const std::vector<float> whole = Decode(bytes, options).samples;
    const StopSignal never;
    Decoder first(bytes, options, never);
    MonoBlock block;
    ASSERT_TRUE(first.Next(block));
    const size_t taken = block.samples.size();
    SavedState saved;
    first.Transfer(saved);

    Decoder second(bytes, options, never);
    SavedState read(saved.bytes());
    second.Transfer(read);
    const Decoded rest = DrainSource(second);
    EXPECT_EQ(rest.samples, Part(whole, taken, whole.size())) << is_wave;
  }
}

TEST(RegionTest, WindowTimesAreThoseOfTheRecording) {
  Preparer preparer(ModelInputSpec{});
  std::vector<float> output(preparer.input_size());
  PrepareOptions options;
  options.decode = Region(1.5, 8.5);
  const auto wave = Ramp(80'000);
  preparer.Open(wave, options, {});
  std::vector<std::pair<double, double>> times;
  for (PreparedInput input; preparer.Next(output, input);) times.emplace_back(input.start_s, input.end_s);
  const std::vector<std::pair<double, double>> expected{{1.5, 6.5}, {3.5, 8.5}};
  EXPECT_EQ(times, expected);
  EXPECT_DOUBLE_EQ(preparer.summary().duration_s, 7.0);
}

TEST(ChannelTest, IsTakenAlone) {
  const auto stereo = Ramp(8000, 2);
  const std::vector<float> mono = Decode(Ramp(8000)).samples;
  EXPECT_EQ(Decode(stereo, {.channel = 0}).samples, mono);
  std::vector<float> second = mono;
  for (float& sample : second) sample += 0.25f;
  EXPECT_EQ(Decode(stereo, {.channel = 1}).samples, second);
  EXPECT_EQ(Decode(stereo, {.channel = 7}).samples, second);
  EXPECT_EQ(Decode(Ramp(8000), {.channel = 1}).samples, mono);
}

TEST(ChannelTest, IsNotHurtByTheOthers) {
  std::vector<float> samples;
  for (int i = 0; i < 8000; ++i) {
    samples.push_back(0.5f);
    samples.push_back(std::numeric_limits<float>::quiet_NaN());
  }
  WaveBuilder wave;
  wave.tag = 3;
  wave.bits = 32;
  wave.channels = 2;
  EXPECT_EQ(Decode(wave.Build(samples), {.channel = 0}).samples, std::vector<float>(8000, 0.5f));
}

TEST(ChannelTest, MeanOfBothIsTheMixInEveryFormat) {
  for (const char* name : {"wav-stereo-44100.wav", "mp3-stereo-44100.mp3", "flac-stereo-44100.flac"}) {
    const ByteVector bytes = MediaNamed("matrix", name).bytes();
    const std::vector<float> mix = Decode(bytes).samples;
    std::vector<float> mean = Decode(bytes, {.channel = 0}).samples;
    const std::vector<float> right = Decode(bytes, {.channel = 1}).samples;
    ASSERT_EQ(mean.size(), right.size()) << name;
    for (size_t i = 0; i < mean.size(); ++i) mean[i] = (mean[i] + right[i]) / 2.0f;
    EXPECT_LT(LargestDifference(mean, mix), 1e-6) << name;
    const StopSignal never;
    Decoder decoder(bytes, {}, never);
    MonoBlock block;
    decoder.Next(block);
    EXPECT_EQ(decoder.channels(), 2) << name;
  }
}

}  // namespace
}  // namespace veravox::test
