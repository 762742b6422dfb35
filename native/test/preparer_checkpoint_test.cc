// SPDX-License-Identifier: Apache-2.0
// A preparer that continues from a checkpoint gives the same bits as an undisturbed one.
#include <gtest/gtest.h>

#include <random>

#include "bursts.h"
#include "decoder_media.h"
#include "decoder_wave_builder.h"
#include "prepare/preparer.h"
#include "range_readers.h"

namespace veravox::test {
namespace {

PrepareOptions LongFile(double silence_threshold_percent) {
  PrepareOptions options{.min_duration_s = 0.1,
                         .silence_threshold_percent = silence_threshold_percent,
                         .checkpoint_interval_s = 1.0};
  options.decode.limits.max_duration_s = 86400.0;
  return options;
}

struct Prepared {
  std::vector<PreparedInput> inputs;
  std::vector<std::vector<float>> outputs;
  std::vector<SkippedStretch> skipped;
  // Each with the number of inputs and skipped stretches before it.
  struct Mark {
    std::vector<uint8_t> checkpoint;
    size_t inputs = 0;
    size_t skipped = 0;
  };
  std::vector<Mark> marks;
  PrepareSummary summary;
};

Prepared RunFrom(std::span<const uint8_t> bytes, const PrepareOptions& options,
                 std::span<const uint8_t> checkpoint = {}) {
  SpanReader reader(bytes);
  const StopSignal stop;
  RangedSource source(reader, bytes.size(), stop,
                      {.block_bytes = 65521, .kept_blocks = 3, .spare_blocks = 64});
  Preparer preparer(SmallInputs());
  preparer.Open(source, options, stop, checkpoint);
  Prepared run;
  std::vector<float> output(preparer.input_size());
  for (PreparedInput input; preparer.Next(output, input);) {
    run.inputs.push_back(input);
    run.outputs.push_back(output);
    for (SkippedStretch& stretch : preparer.TakeSkipped()) run.skipped.push_back(std::move(stretch));
    if (input.input_index + 1 < input.inputs_in_window) continue;
    if (auto mark = preparer.TakeCheckpoint(); !mark.empty()) {
      run.marks.push_back({std::move(mark), run.inputs.size(), run.skipped.size()});
    }
  }
  run.summary = preparer.summary();
  for (SkippedStretch& stretch : preparer.TakeSkipped()) run.skipped.push_back(std::move(stretch));
  preparer.Close();
  return run;
}

void ExpectTail(const Prepared& whole, const Prepared::Mark& mark, const Prepared& rest) {
  ASSERT_EQ(rest.inputs.size(), whole.inputs.size() - mark.inputs);
  for (size_t i = 0; i < rest.inputs.size(); ++i) {
    const PreparedInput& expected = whole.inputs[mark.inputs + i];
    EXPECT_EQ(rest.inputs[i].window_index, expected.window_index);
    EXPECT_EQ(rest.inputs[i].input_index, expected.input_index);
    EXPECT_EQ(rest.inputs[i].start_s, expected.start_s);
    EXPECT_EQ(rest.inputs[i].end_s, expected.end_s);
    EXPECT_EQ(rest.inputs[i].codec, expected.codec);
    EXPECT_EQ(rest.inputs[i].coded_bits_per_s, expected.coded_bits_per_s);
    ASSERT_EQ(rest.outputs[i], whole.outputs[mark.inputs + i]) << "input " << i;
  }
  ASSERT_EQ(rest.skipped.size(), whole.skipped.size() - mark.skipped);
  for (size_t i = 0; i < rest.skipped.size(); ++i) {
    const SkippedStretch& expected = whole.skipped[mark.skipped + i];
    EXPECT_EQ(rest.skipped[i].start_s, expected.start_s);
    EXPECT_EQ(rest.skipped[i].end_s, expected.end_s);
    EXPECT_EQ(rest.skipped[i].non_speech_percent, expected.non_speech_percent);
  }
  EXPECT_EQ(rest.summary.duration_s, whole.summary.duration_s);
  EXPECT_EQ(rest.summary.damaged_packets, whole.summary.damaged_packets);
  EXPECT_EQ(rest.summary.speech_ratio, whole.summary.speech_ratio);
  EXPECT_EQ(rest.summary.clipped_ratio, whole.summary.clipped_ratio);
  EXPECT_EQ(rest.summary.high_band_drop_db, whole.summary.high_band_drop_db);
  EXPECT_EQ(rest.summary.noise_gap_db, whole.summary.noise_gap_db);
}

void ExpectEveryCheckpointGoesOn(std::span<const uint8_t> bytes, const PrepareOptions& options) {
  const Prepared whole = RunFrom(bytes, options);
  ASSERT_FALSE(whole.marks.empty());
  for (const Prepared::Mark& mark : whole.marks) {
    SCOPED_TRACE(std::to_string(mark.inputs) + " inputs before it");
    EXPECT_LT(mark.checkpoint.size(), 40'000u);
    ExpectTail(whole, mark, RunFrom(bytes, options, mark.checkpoint));
  }
}

TEST(PreparerCheckpointTest, WaveFilesOfAllRatesGoOnAtTheirByte) {
  for (const int rate_hz : {16000, 11025, 44101, 96000}) {
    SCOPED_TRACE(rate_hz);
    const auto bytes =
        WaveBuilder{.sample_rate_hz = static_cast<uint32_t>(rate_hz)}.Build(Bursts(43.21, rate_hz));
    ExpectEveryCheckpointGoesOn(bytes, LongFile(100.0));
  }
}

// The mix of channels depends on earlier audio.
TEST(PreparerCheckpointTest, ChannelsOfOppositePolarityGoOn) {
  const auto voice = Bursts(43.21, 11025);
  std::vector<int16_t> channels;
  for (size_t i = 0; i < voice.size(); ++i) {
    const bool is_inverted = i / 30'000 % 3 != 0;
    channels.push_back(voice[i]);
    channels.push_back(static_cast<int16_t>(is_inverted ? -(voice[i] / 2) : voice[i] / 2));
  }
  // The mix starts afresh in each of two joined files.
  const auto middle = channels.begin() + static_cast<ptrdiff_t>(channels.size() / 4 * 2);
  const WaveBuilder wave{.channels = 2, .sample_rate_hz = 11025};
  const auto bytes = Joined({wave.Build(std::vector<int16_t>(channels.begin(), middle)),
                             wave.Build(std::vector<int16_t>(middle, channels.end()))});
  ExpectEveryCheckpointGoesOn(bytes, LongFile(100.0));
}

TEST(PreparerCheckpointTest, LongFilesGoOn) {
  const auto bytes = WaveBuilder{.sample_rate_hz = 8000}.Build(Bursts(91.0, 8000));
  ExpectEveryCheckpointGoesOn(bytes, LongFile(100.0));
}

TEST(PreparerCheckpointTest, SkippedStretchesAreGivenOnce) {
  const auto bytes = WaveBuilder{}.Build(Bursts(100.05, 16000));
  const PrepareOptions options = LongFile(60.0);
  EXPECT_GT(RunFrom(bytes, options).skipped.size(), 1u);
  ExpectEveryCheckpointGoesOn(bytes, options);
}

TEST(PreparerCheckpointTest, LastWindowsThatSlideBackFindTheirAudio) {
  for (const double seconds : {40.0, 40.05, 40.0999, 40.1001, 42.5, 44.99}) {
    SCOPED_TRACE(seconds);
    ExpectEveryCheckpointGoesOn(WaveBuilder{}.Build(Bursts(seconds, 16000)), LongFile(100.0));
  }
}

// Codecs with memory, and a container whose index is at the end.
TEST(PreparerCheckpointTest, CompressedFilesGoOn) {
  for (const MediaFile& file : MediaOfKind("lasting")) {
    SCOPED_TRACE(file.path);
    ExpectEveryCheckpointGoesOn(file.bytes(), LongFile(100.0));
  }
}

TEST(PreparerCheckpointTest, DamagedCheckpointsAreRefusedOrHarmless) {
  const auto bytes = WaveBuilder{.sample_rate_hz = 44100}.Build(Bursts(25.0, 44100));
  const PrepareOptions options = LongFile(100.0);
  const Prepared whole = RunFrom(bytes, options);
  ASSERT_FALSE(whole.marks.empty());
  const std::vector<uint8_t>& good = whole.marks.front().checkpoint;
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    std::vector<uint8_t> bad = good;
    if (round % 3 == 0) bad.resize(random() % bad.size());
    for (int i = 0; i < 3 && !bad.empty(); ++i) {
      // Half of them hit the counts, which are at either end.
      const size_t place = random() % bad.size();
      bad[round % 2 == 0 ? place % 64 : place] = static_cast<uint8_t>(random());
    }
    if (bad.empty()) continue;
    try {
      RunFrom(bytes, options, bad);
    } catch (const StageError& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kInternal || error.code() == ErrorCode::kUndecodable ||
                  error.code() == ErrorCode::kTooLong || error.code() == ErrorCode::kSampleRateOutOfRange)
          << ErrorCodeName(error.code());
    }
  }
}

}  // namespace
}  // namespace veravox::test
