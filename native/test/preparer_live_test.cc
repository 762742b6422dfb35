// SPDX-License-Identifier: Apache-2.0
// Live audio gives the same bits as a file with the same content, whatever the pieces.
#include <gtest/gtest.h>

#include <map>

#include "bursts.h"
#include "decoder_wave_builder.h"
#include "prepare/preparer.h"

namespace veravox::test {
namespace {

PrepareOptions WithThreshold(double silence_threshold_percent) {
  return {.min_duration_s = 0.1, .silence_threshold_percent = silence_threshold_percent};
}

using Outputs = std::map<std::pair<int64_t, int>, std::vector<float>>;

struct Prepared {
  Outputs outputs;  // by window and input
  std::map<int64_t, AudioWindow> windows;
  PrepareSummary summary;
};

Prepared OfFile(const std::vector<int16_t>& samples, int rate_hz, const PrepareOptions& options) {
  const auto bytes = WaveBuilder{.sample_rate_hz = static_cast<uint32_t>(rate_hz)}.Build(samples);
  Preparer preparer(SmallInputs());
  preparer.Open(bytes, options, StopSignal());
  Prepared file;
  std::vector<float> output(preparer.input_size());
  for (PreparedInput input; preparer.Next(output, input);) {
    file.outputs[{input.window_index, input.input_index}] = output;
    file.windows[input.window_index] = {input.start_s, input.end_s};
  }
  file.summary = preparer.summary();
  return file;
}

struct Live {
  Prepared prepared;
  std::vector<SkippedWindow> skipped;
  // Per window: seconds from its end until it was made, or was certain.
  std::map<int64_t, double> made_after_s;
  std::map<int64_t, double> certain_after_s;
};

Live OfPieces(const std::vector<int16_t>& samples, int rate_hz, const PrepareOptions& options,
              size_t piece_samples) {
  Preparer preparer(SmallInputs());
  preparer.OpenLive({.sample_rate_hz = rate_hz}, options);
  Live live;
  std::vector<float> output(preparer.input_size());
  size_t begin = 0;
  const auto take = [&] {
    for (PreparedInput input; preparer.Next(output, input);) {
      live.prepared.outputs[{input.window_index, input.input_index}] = output;
      live.prepared.windows[input.window_index] = {input.start_s, input.end_s};
      live.made_after_s[input.window_index] = static_cast<double>(begin) / rate_hz - input.end_s;
    }
    for (int64_t i = 0; i < preparer.live_state().certain_windows; ++i)
      live.certain_after_s.emplace(i, static_cast<double>(begin) / rate_hz - live.prepared.windows[i].end_s);
    for (const SkippedWindow& window : preparer.TakeSkippedWindows()) live.skipped.push_back(window);
  };
  while (begin < samples.size()) {
    const size_t count = std::min(piece_samples, samples.size() - begin);
    preparer.Push({reinterpret_cast<const uint8_t*>(&samples[begin]), 2 * count});
    begin += count;
    EXPECT_FALSE(preparer.live_state().at_end);
    take();
  }
  preparer.FinishPushing();
  take();
  EXPECT_TRUE(preparer.live_state().at_end);
  // An early window that is no longer a window at the end.
  const auto certain = preparer.live_state().certain_windows;
  std::erase_if(live.prepared.outputs, [&](const auto& entry) { return entry.first.first >= certain; });
  std::erase_if(live.prepared.windows, [&](const auto& entry) { return entry.first >= certain; });
  live.prepared.summary = preparer.summary();
  return live;
}

void ExpectSame(const Prepared& live, const Prepared& file) {
  ASSERT_EQ(live.windows.size(), file.windows.size());
  for (const auto& [index, window] : file.windows) {
    EXPECT_EQ(live.windows.at(index).start_s, window.start_s);
    EXPECT_EQ(live.windows.at(index).end_s, window.end_s);
  }
  EXPECT_TRUE(live.outputs == file.outputs);
  EXPECT_EQ(live.summary.duration_s, file.summary.duration_s);
  EXPECT_EQ(live.summary.speech_ratio, file.summary.speech_ratio);
  EXPECT_EQ(live.summary.clipped_ratio, file.summary.clipped_ratio);
  EXPECT_EQ(live.summary.high_band_drop_db, file.summary.high_band_drop_db);
  EXPECT_EQ(live.summary.noise_gap_db, file.summary.noise_gap_db);
  ASSERT_EQ(live.summary.skipped.size(), file.summary.skipped.size());
  for (size_t i = 0; i < file.summary.skipped.size(); ++i) {
    EXPECT_EQ(live.summary.skipped[i].start_s, file.summary.skipped[i].start_s);
    EXPECT_EQ(live.summary.skipped[i].end_s, file.summary.skipped[i].end_s);
    EXPECT_EQ(live.summary.skipped[i].non_speech_percent, file.summary.skipped[i].non_speech_percent);
  }
}

TEST(PreparerLiveTest, AllRatesAndPiecesGiveWhatTheFileGives) {
  for (const int rate_hz : {8000, 16000, 44100, 48000}) {
    SCOPED_TRACE(rate_hz);
    const auto samples = Bursts(23.21, rate_hz);
    const Prepared file = OfFile(samples, rate_hz, WithThreshold(100.0));
    for (const size_t piece_samples : {size_t{97}, size_t{960}, size_t{16001}, size_t{1} << 20}) {
      SCOPED_TRACE(piece_samples);
      ExpectSame(OfPieces(samples, rate_hz, WithThreshold(100.0), piece_samples).prepared, file);
    }
  }
}

// The audio may end at any point: the last window slides back, even over an early one.
TEST(PreparerLiveTest, AllEndsGiveWhatTheFileGives) {
  for (const double silence_threshold_percent : {100.0, 60.0, 40.0}) {
    for (const double seconds : {0.5, 4.99, 5.0, 5.001, 10.05, 10.0999, 10.1001, 24.0, 30.02, 35.05, 44.99}) {
      SCOPED_TRACE(seconds);
      const auto samples = Bursts(seconds, 16000);
      const PrepareOptions options = WithThreshold(silence_threshold_percent);
      ExpectSame(OfPieces(samples, 16000, options, 320).prepared, OfFile(samples, 16000, options));
    }
  }
}

TEST(PreparerLiveTest, WindowsAreMadeAtTheirEndAndCertainATenthOfASecondLater) {
  const Live live = OfPieces(Bursts(32.0, 48000), 48000, WithThreshold(100.0), 480);
  size_t compared = 0;
  for (const auto& [index, after_s] : live.made_after_s) {
    if (live.prepared.windows.at(index).end_s > 31.0) continue;
    EXPECT_LT(after_s, 0.03) << "window " << index;
    EXPECT_LT(live.certain_after_s.at(index), 0.13) << "window " << index;
    EXPECT_GE(live.certain_after_s.at(index), 0.1) << "window " << index;
    ++compared;
  }
  EXPECT_GE(compared, 3u);
}

TEST(PreparerLiveTest, SkippedWindowsAreToldOneByOne) {
  const auto samples = Bursts(60.0, 16000);
  const Live live = OfPieces(samples, 16000, WithThreshold(60.0), 160);
  size_t expected = 0;
  for (const SkippedStretch& stretch : live.prepared.summary.skipped) expected += stretch.windows.size();
  EXPECT_GT(expected, 2u);
  EXPECT_EQ(live.skipped.size(), expected);
}

TEST(PreparerLiveTest, NewsComeAsSoonAsTheStateSays) {
  const auto samples = Bursts(21.0, 44100);
  Preparer preparer(SmallInputs());
  preparer.OpenLive({.sample_rate_hz = 44100}, WithThreshold(80.0));
  std::vector<float> output(preparer.input_size());
  std::vector<double> made_at_s;
  int rounds = 0;
  for (size_t begin = 0; begin < samples.size(); ++rounds) {
    const auto wanted = static_cast<size_t>(preparer.live_state().wanted_s * 44100) + 1;
    const size_t count = std::min(wanted, samples.size() - begin);
    preparer.Push({reinterpret_cast<const uint8_t*>(&samples[begin]), 2 * count});
    begin += count;
    for (PreparedInput input; preparer.Next(output, input);)
      if (input.input_index == 0) made_at_s.push_back(static_cast<double>(begin) / 44100);
  }
  ASSERT_GE(made_at_s.size(), 3u);
  EXPECT_LT(rounds, 120);
  for (size_t i = 0; i < 3; ++i) EXPECT_LT(made_at_s[i] - 5.0 * static_cast<double>(i + 1), 0.02);
}

TEST(PreparerLiveTest, HalfSamplesAndNoAudioAreErrors) {
  Preparer preparer(SmallInputs());
  std::vector<float> output(preparer.input_size());
  PreparedInput input;
  preparer.OpenLive({}, WithThreshold(80.0));
  const uint8_t bytes[3] = {};
  EXPECT_THROW(preparer.Push(bytes), StageError);
  preparer.OpenLive({}, WithThreshold(80.0));
  EXPECT_FALSE(preparer.Next(output, input));
  preparer.FinishPushing();
  EXPECT_THROW(preparer.Next(output, input), StageError);
  preparer.Close();
  EXPECT_THROW(preparer.Push({bytes, 2}), StageError);
}

TEST(PreparerLiveTest, WhatIsNotOpusIsNoAudio) {
  Preparer preparer(SmallInputs());
  preparer.OpenLive({.encoding = LiveFormat::Encoding::kOpus, .channels = 2, .pre_skip = 312},
                    WithThreshold(80.0));
  std::vector<float> output(preparer.input_size());
  PreparedInput input;
  const uint8_t bytes[] = {0xff, 0xff, 0xff, 1, 2, 3};
  for (int i = 0; i < 10; ++i) preparer.Push(bytes);
  preparer.Push({});
  EXPECT_FALSE(preparer.Next(output, input));
  preparer.FinishPushing();
  EXPECT_THROW(preparer.Next(output, input), StageError);
}

TEST(PreparerLiveTest, CloserWindowsAreThoseOfAFile) {
  const auto samples = Bursts(16000, 30);
  PrepareOptions options = WithThreshold(100.0);
  // Wanted when the window from 10 to 15 s is known: from before it until after it, and beyond the end.
  const std::vector<AudioWindow> wanted = {{7.0, 9.5}, {9.0, 11.5}, {15.0, 17.5}, {28.0, 30.5}};
  PrepareOptions given = options;
  given.windows = {wanted.begin(), wanted.end() - 1};
  const Prepared file = OfFile(samples, 16000, given);

  Preparer preparer(SmallInputs());
  preparer.OpenLive({.sample_rate_hz = 16000}, options);
  std::map<double, std::vector<float>> closer;
  std::vector<float> output(preparer.input_size());
  const auto take = [&] {
    for (PreparedInput input; preparer.Next(output, input);) {
      if (input.is_closer) {
        closer[input.start_s] = output;
      } else if (input.start_s == 10.0 && input.input_index == 0) {
        preparer.LookCloser(wanted);
      }
    }
  };
  for (size_t begin = 0; begin < samples.size(); begin += 1600) {
    preparer.Push({reinterpret_cast<const uint8_t*>(&samples[begin]), 2 * size_t{1600}});
    take();
  }
  preparer.FinishPushing();
  take();
  ASSERT_EQ(closer.size(), given.windows.size());
  for (const auto& [index, window] : file.windows) {
    EXPECT_EQ(closer[window.start_s], file.outputs.at({index, 0})) << window.start_s;
  }
}

}  // namespace
}  // namespace veravox::test
