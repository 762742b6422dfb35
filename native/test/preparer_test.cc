// SPDX-License-Identifier: Apache-2.0
#include "prepare/preparer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "decoder_media.h"

namespace veravox {
namespace {

template <typename T>
void Append(std::vector<uint8_t>& bytes, T value) {
  const auto* first = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(T));
}

void AppendText(std::vector<uint8_t>& bytes, const char* text) { bytes.insert(bytes.end(), text, text + 4); }

// A mono WAV file with 32-bit float samples, which come out bit by bit as they went in.
std::vector<uint8_t> FloatWav(const std::vector<float>& samples, uint32_t rate_hz = 16000) {
  static_assert(std::endian::native == std::endian::little);
  const auto data_size = static_cast<uint32_t>(samples.size() * sizeof(float));
  std::vector<uint8_t> bytes;
  AppendText(bytes, "RIFF");
  Append(bytes, uint32_t{36} + data_size);
  AppendText(bytes, "WAVE");
  AppendText(bytes, "fmt ");
  Append(bytes, uint32_t{16});
  Append(bytes, uint16_t{3});  // IEEE float
  Append(bytes, uint16_t{1});
  Append(bytes, rate_hz);
  Append(bytes, rate_hz * uint32_t{4});
  Append(bytes, uint16_t{4});
  Append(bytes, uint16_t{32});
  AppendText(bytes, "data");
  Append(bytes, data_size);
  for (const float sample : samples) Append(bytes, sample);
  return bytes;
}

// A sweep: every window of it is different.
std::vector<float> Sweep(size_t count) {
  std::vector<float> samples(count);
  double phase = 0.0;
  for (size_t i = 0; i < count; ++i) {
    phase += 2.0 * std::numbers::pi * (100.0 + 3000.0 * static_cast<double>(i) / 400000.0) / 16000.0;
    samples[i] = static_cast<float>(0.4 * std::sin(phase));
  }
  return samples;
}

ModelInputSpec Waveform(int64_t window_samples, int64_t hop_samples) {
  ModelInputSpec spec;
  spec.recipe.kind = FeatureRecipe::Kind::kWaveform;
  spec.window_samples = window_samples;
  spec.hop_samples = hop_samples;
  return spec;
}

// Analyses every window, whatever the voice activity detector makes of a synthetic signal.
PrepareOptions EveryWindow() { return {.min_duration_s = 1.0, .silence_threshold_percent = 100.0}; }

struct Prepared {
  std::vector<PreparedInput> inputs;
  std::vector<std::vector<float>> outputs;
  PrepareSummary summary;
};

Prepared PrepareAll(Preparer& preparer, const std::vector<uint8_t>& bytes, const PrepareOptions& options,
                    const StopSignal& stop = {}) {
  Prepared prepared;
  preparer.Open(bytes, options, stop);
  std::vector<float> output(preparer.input_size());
  PreparedInput input;
  while (preparer.Next(output, input)) {
    prepared.inputs.push_back(input);
    prepared.outputs.push_back(output);
  }
  prepared.summary = preparer.summary();
  preparer.Close();
  return prepared;
}

ErrorCode CodeOf(Preparer& preparer, const std::vector<uint8_t>& bytes, const PrepareOptions& options,
                 double* measured_s = nullptr, const StopSignal& stop = {}) {
  try {
    PrepareAll(preparer, bytes, options, stop);
  } catch (const StageError& error) {
    if (measured_s != nullptr) *measured_s = error.measured_s();
    return error.code();
  }
  ADD_FAILURE() << "Expected a StageError.";
  return ErrorCode::kInternal;
}

TEST(PreparerTest, RefusesAudioThatIsTooShortWithItsDuration) {
  Preparer preparer(Waveform(80000, 80000));
  double measured_s = 0.0;
  EXPECT_EQ(CodeOf(preparer, FloatWav(Sweep(15999)), EveryWindow(), &measured_s), ErrorCode::kTooShort);
  EXPECT_NEAR(measured_s, 15999.0 / 16000.0, 1e-9);
}

TEST(PreparerTest, RefusesAudioThatIsTooLong) {
  Preparer preparer(Waveform(80000, 80000));
  PrepareOptions options = EveryWindow();
  options.decode.limits.max_duration_s = 3.0;
  double measured_s = 0.0;
  EXPECT_EQ(CodeOf(preparer, FloatWav(Sweep(60000)), options, &measured_s), ErrorCode::kTooLong);
  EXPECT_GT(measured_s, 3.0);
}

// Each rate has tables of its own, which are made again once other rates were heard.
TEST(PreparerTest, RefusesRatesThatChangeTooOften) {
  Preparer preparer(Waveform(80000, 80000));
  const auto joined = [](uint32_t rates) {
    std::vector<uint8_t> files;
    for (uint32_t i = 0; i < 2'000; ++i) {
      const auto file = FloatWav(Sweep(100), 44'101 + 2 * (i % rates));
      files.insert(files.end(), file.begin(), file.end());
    }
    return files;
  };
  EXPECT_EQ(CodeOf(preparer, joined(9), EveryWindow()), ErrorCode::kUndecodable);
  EXPECT_EQ(PrepareAll(preparer, joined(8), EveryWindow()).inputs.size(), 1u);
}

TEST(PreparerTest, StopsWhenTheFlagIsRaisedOrTimeIsUp) {
  Preparer preparer(Waveform(80000, 80000));
  const auto bytes = FloatWav(Sweep(320000));
  const int32_t raised = 1;
  EXPECT_EQ(CodeOf(preparer, bytes, EveryWindow(), nullptr, {&raised, StopSignal::Clock::time_point::max()}),
            ErrorCode::kCancelled);
  EXPECT_EQ(CodeOf(preparer, bytes, EveryWindow(), nullptr, {nullptr, StopSignal::Clock::now()}),
            ErrorCode::kDeadline);
}

TEST(PreparerTest, IsGoodForTheNextFileAfterAFailure) {
  Preparer preparer(Waveform(80000, 80000));
  const auto good = FloatWav(Sweep(170000));
  const Prepared before = PrepareAll(preparer, good, EveryWindow());
  CodeOf(preparer, {'n', 'o', ' ', 'a', 'u', 'd', 'i', 'o'}, EveryWindow());
  CodeOf(preparer, FloatWav(Sweep(100)), EveryWindow());
  preparer.Open(good, EveryWindow(), {});  // left in the middle of a file
  std::vector<float> output(preparer.input_size());
  PreparedInput input;
  ASSERT_TRUE(preparer.Next(output, input));
  const Prepared after = PrepareAll(preparer, good, EveryWindow());
  EXPECT_EQ(before.outputs, after.outputs);
  EXPECT_EQ(before.summary.speech_ratio, after.summary.speech_ratio);
}

TEST(PreparerTest, AMissingEndHasItsLengths) {
  Preparer preparer(Waveform(80000, 80000));
  std::vector<uint8_t> bytes = FloatWav(Sweep(192000));
  EXPECT_FALSE(PrepareAll(preparer, bytes, EveryWindow()).summary.stated_length.has_value());
  bytes.erase(bytes.end() - 64000 * sizeof(float), bytes.end());
  const Prepared prepared = PrepareAll(preparer, bytes, EveryWindow());
  ASSERT_TRUE(prepared.summary.stated_length.has_value());
  EXPECT_DOUBLE_EQ(prepared.summary.stated_length->stated_s.value_or(0.0), 12.0);
  EXPECT_DOUBLE_EQ(prepared.summary.stated_length->found_s, 8.0);
}

TEST(PreparerTest, DamageHasItsPlace) {
  Preparer preparer(Waveform(80000, 80000));
  std::vector<uint8_t> bytes = test::MediaNamed("matrix", "flac-stereo-44100.flac").bytes();
  EXPECT_TRUE(PrepareAll(preparer, bytes, EveryWindow()).summary.damaged_at_s.empty());
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 2), 500, uint8_t{0x55});
  const Prepared prepared = PrepareAll(preparer, bytes, EveryWindow());
  EXPECT_GE(prepared.summary.damaged_packets, 1);
  ASSERT_EQ(prepared.summary.damaged_at_s.size(), 1u);
  EXPECT_NEAR(prepared.summary.damaged_at_s[0], prepared.summary.duration_s / 2, 0.3);
}

TEST(PreparerTest, WindowsHoldTheSamplesOfTheirTimes) {
  Preparer preparer(Waveform(80000, 80000));
  const auto samples = Sweep(192000);
  const Prepared prepared = PrepareAll(preparer, FloatWav(samples), EveryWindow());
  ASSERT_EQ(prepared.inputs.size(), 3u);
  EXPECT_DOUBLE_EQ(prepared.summary.duration_s, 12.0);
  const double starts_s[] = {0.0, 5.0, 7.0};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(prepared.inputs[i].start_s, starts_s[i]);
    EXPECT_DOUBLE_EQ(prepared.inputs[i].end_s, starts_s[i] + 5.0);
    const auto begin = samples.begin() + static_cast<ptrdiff_t>(starts_s[i] * 16000);
    EXPECT_EQ(prepared.outputs[i], std::vector<float>(begin, begin + 80000));
  }
}

TEST(PreparerTest, ALongFileGivesTheSameWindowsAsItsMiddle) {
  Preparer preparer(Waveform(80000, 80000));
  const auto samples = Sweep(16000 * 47);
  const Prepared prepared = PrepareAll(preparer, FloatWav(samples), EveryWindow());
  ASSERT_EQ(prepared.inputs.size(), 10u);
  for (size_t i = 0; i < 9; ++i) {
    const auto begin = samples.begin() + static_cast<ptrdiff_t>(i * 80000);
    ASSERT_EQ(prepared.outputs[i], std::vector<float>(begin, begin + 80000)) << "window " << i;
  }
}

TEST(PreparerTest, AShortWindowIsRepeatedOrFilledWithZeros) {
  const auto samples = Sweep(30000);
  Preparer repeating(Waveform(80000, 80000));
  const Prepared repeated = PrepareAll(repeating, FloatWav(samples), EveryWindow());
  ASSERT_EQ(repeated.inputs.size(), 1u);
  EXPECT_DOUBLE_EQ(repeated.inputs[0].end_s, 30000.0 / 16000.0);
  for (size_t i = 0; i < 80000; ++i) ASSERT_EQ(repeated.outputs[0][i], samples[i % 30000]);

  ModelInputSpec spec = Waveform(80000, 80000);
  spec.short_window = ModelInputSpec::ShortWindow::kZeroPad;
  Preparer padding(spec);
  const Prepared padded = PrepareAll(padding, FloatWav(samples), EveryWindow());
  for (size_t i = 0; i < 80000; ++i) ASSERT_EQ(padded.outputs[0][i], i < 30000 ? samples[i] : 0.0f);
}

TEST(PreparerTest, WhereSoundIsRepeatedTheSilenceAroundItTakesNoPart) {
  ModelInputSpec spec = Waveform(80000, 80000);
  spec.short_window = ModelInputSpec::ShortWindow::kRepeatSound;
  Preparer preparer(spec);
  auto sound = Sweep(30000);
  sound.front() = sound.back() = 0.4f * 1.001e-3f;
  const auto outputs = [&](size_t silence_before, size_t silence_after, float silence) {
    std::vector<float> samples(silence_before, silence);
    samples.insert(samples.end(), sound.begin(), sound.end());
    samples.insert(samples.end(), silence_after, silence);
    return PrepareAll(preparer, FloatWav(samples), EveryWindow()).outputs;
  };
  std::vector<float> expected(80000);
  for (size_t i = 0; i < 80000; ++i) expected[i] = sound[i % 30000];
  const std::vector<std::vector<float>> one_input = {expected};
  EXPECT_EQ(outputs(0, 0, 0.0f), one_input);
  EXPECT_EQ(outputs(8000, 123, 0.0f), one_input);
  EXPECT_EQ(outputs(1, 8000, 0.4f * 0.999e-3f), one_input);
  EXPECT_EQ(outputs(8000, 42000, 0.0f), one_input) << "a window that is full, but not of sound";
  EXPECT_NE(outputs(1, 0, 0.4f * 1.001e-3f), one_input) << "what is heard takes part";
}

TEST(PreparerTest, WhereSoundIsRepeatedSilenceAloneStaysSilence) {
  ModelInputSpec spec = Waveform(80000, 80000);
  spec.short_window = ModelInputSpec::ShortWindow::kRepeatSound;
  Preparer preparer(spec);
  const Prepared prepared = PrepareAll(preparer, FloatWav(std::vector<float>(30000, 0.0f)), EveryWindow());
  ASSERT_EQ(prepared.outputs.size(), 1u);
  EXPECT_EQ(prepared.outputs[0], std::vector<float>(80000, 0.0f));
}

TEST(PreparerTest, AModelWithAShorterWindowGetsSeveralInputs) {
  Preparer preparer(Waveform(64600, 64600));
  const auto samples = Sweep(80000);
  const Prepared prepared = PrepareAll(preparer, FloatWav(samples), EveryWindow());
  ASSERT_EQ(prepared.inputs.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(prepared.inputs[i].window_index, 0);
    EXPECT_EQ(prepared.inputs[i].input_index, i);
    EXPECT_EQ(prepared.inputs[i].inputs_in_window, 2);
  }
  EXPECT_EQ(prepared.outputs[0], std::vector<float>(samples.begin(), samples.begin() + 64600));
  EXPECT_EQ(prepared.outputs[1], std::vector<float>(samples.end() - 64600, samples.end()));
}

TEST(PreparerTest, SilenceIsSkippedAsOneStretch) {
  Preparer preparer(Waveform(80000, 80000));
  const Prepared prepared =
      PrepareAll(preparer, FloatWav(std::vector<float>(192000, 0.0f)), {.silence_threshold_percent = 80.0});
  EXPECT_TRUE(prepared.inputs.empty());
  ASSERT_EQ(prepared.summary.skipped.size(), 1u);
  EXPECT_DOUBLE_EQ(prepared.summary.skipped[0].start_s, 0.0);
  EXPECT_DOUBLE_EQ(prepared.summary.skipped[0].end_s, 12.0);
  EXPECT_DOUBLE_EQ(prepared.summary.skipped[0].non_speech_percent, 100.0);
  const double expected_s[][2] = {{0.0, 5.0}, {5.0, 10.0}, {7.0, 12.0}};
  const auto& windows = prepared.summary.skipped[0].windows;
  ASSERT_EQ(windows.size(), std::size(expected_s));
  for (size_t i = 0; i < windows.size(); ++i) {
    EXPECT_DOUBLE_EQ(windows[i].start_s, expected_s[i][0]);
    EXPECT_DOUBLE_EQ(windows[i].end_s, expected_s[i][1]);
  }
  EXPECT_DOUBLE_EQ(prepared.summary.speech_ratio, 0.0);
}

TEST(PreparerTest, SamplesThatAreNoNumbersDoNotSpread) {
  Preparer preparer(Waveform(80000, 80000));
  auto samples = Sweep(80000);
  samples[100] = std::numeric_limits<float>::quiet_NaN();
  samples[200] = std::numeric_limits<float>::infinity();
  samples[300] = 3e38f;
  const Prepared prepared = PrepareAll(preparer, FloatWav(samples), EveryWindow());
  ASSERT_EQ(prepared.outputs.size(), 1u);
  for (const float value : prepared.outputs[0]) ASSERT_TRUE(std::isfinite(value));
  EXPECT_EQ(prepared.outputs[0][100], 0.0f);
  EXPECT_EQ(prepared.outputs[0][99], samples[99]);
}

TEST(PreparerTest, CountsSamplesAtFullScale) {
  Preparer preparer(Waveform(80000, 80000));
  auto samples = Sweep(80000);
  for (size_t i = 0; i < 8000; ++i) samples[i * 10] = i % 2 == 0 ? 1.0f : -1.0f;
  const Prepared prepared = PrepareAll(preparer, FloatWav(samples), EveryWindow());
  EXPECT_NEAR(prepared.summary.clipped_ratio, 0.1, 1e-9);
}

TEST(PreparerTest, ResampledAudioKeepsItsDuration) {
  Preparer preparer(Waveform(80000, 80000));
  for (const uint32_t rate_hz : {8000u, 11025u, 44100u, 48000u, 96000u}) {
    const Prepared prepared = PrepareAll(preparer, FloatWav(Sweep(rate_hz * 7), rate_hz), EveryWindow());
    EXPECT_NEAR(prepared.summary.duration_s, 7.0, 1.0 / 16000.0) << rate_hz;
    EXPECT_EQ(prepared.inputs.size(), 2u) << rate_hz;
  }
}

TEST(PreparerTest, GivenWindowsAreCutFromTheAudio) {
  const std::vector<float> sweep = Sweep(400000);
  Preparer preparer(Waveform(40000, 40000));
  PrepareOptions options = EveryWindow();
  options.windows = {{0.0, 2.5}, {1.0, 3.5}, {1.5, 4.0}, {12.0, 14.5}};
  const Prepared prepared = PrepareAll(preparer, FloatWav(sweep), options);
  ASSERT_EQ(prepared.inputs.size(), options.windows.size());
  for (size_t i = 0; i < options.windows.size(); ++i) {
    EXPECT_EQ(prepared.inputs[i].start_s, options.windows[i].start_s);
    EXPECT_EQ(prepared.inputs[i].end_s, options.windows[i].end_s);
    const auto begin = static_cast<ptrdiff_t>(options.windows[i].start_s * 16000);
    EXPECT_EQ(prepared.outputs[i], std::vector<float>(sweep.begin() + begin, sweep.begin() + begin + 40000));
  }
}

TEST(PreparerTest, GivenWindowsHaveTheTimesOfTheRecordingInARegion) {
  Preparer preparer(Waveform(40000, 40000));
  PrepareOptions whole = EveryWindow();
  whole.windows = {{3.0, 5.5}};
  PrepareOptions region = whole;
  region.decode.region.start_s = 2.0;
  const auto bytes = FloatWav(Sweep(400000));
  EXPECT_EQ(PrepareAll(preparer, bytes, region).outputs, PrepareAll(preparer, bytes, whole).outputs);
}

}  // namespace
}  // namespace veravox
