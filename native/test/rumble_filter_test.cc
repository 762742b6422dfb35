// SPDX-License-Identifier: Apache-2.0
#include "prepare/rumble_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "feature_references.h"

namespace veravox::test {
namespace {

std::vector<float> Filtered(std::span<const float> samples, size_t piece) {
  RumbleFilter filter;
  std::vector<float> output;
  for (size_t begin = 0; begin < samples.size(); begin += piece) {
    filter.Push(samples.subspan(begin, std::min(piece, samples.size() - begin)), output);
  }
  filter.Finish(output);
  return output;
}

std::vector<float> Tone(double frequency_hz, float level, size_t samples, double phase = 0.7) {
  std::vector<float> tone(samples);
  for (size_t i = 0; i < samples; ++i) {
    tone[i] = level * static_cast<float>(std::sin(
                          2.0 * std::numbers::pi * frequency_hz * static_cast<double>(i) / 16000.0 + phase));
  }
  return tone;
}

float Peak(std::span<const float> samples) {
  float peak = 0.0f;
  for (const float sample : samples) peak = std::max(peak, std::abs(sample));
  return peak;
}

TEST(RumbleFilter, AgreesWithScipy) {
  const std::vector<float> input = ReferenceFloats("input.f32");
  const std::vector<float> expected = ReferenceFloats("without_rumble.f32");
  const std::vector<float> filtered = Filtered(input, input.size());
  ASSERT_EQ(filtered.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(filtered[i], expected[i], 1e-6) << i;
}

TEST(RumbleFilter, GivesTheSameBitsHoweverTheAudioArrives) {
  const std::vector<float> input = ReferenceFloats("input.f32");
  const std::vector<float> whole = Filtered(input, input.size());
  for (const size_t piece : {1, 7, 1024, 4000}) EXPECT_EQ(Filtered(input, piece), whole) << piece;
}

TEST(RumbleFilter, LeavesNothingOfAnOffset) {
  EXPECT_LT(Peak(Filtered(std::vector<float>(16000, 0.05f), 1600)), 1e-9f);
}

TEST(RumbleFilter, TakesRumbleAwayFromTheFirstSampleOn) {
  for (const double frequency_hz : {2.0, 10.0, 30.0, 40.0}) {
    const std::vector<float> filtered = Filtered(Tone(frequency_hz, 0.05f, 32000), 32000);
    // The start is a guess of earlier audio; after a second no trace is left.
    EXPECT_LT(Peak(filtered), 0.05f / 20) << frequency_hz;
    EXPECT_LT(Peak(std::span(filtered).subspan(16000)), 0.05f * 1.2e-4f) << frequency_hz;
  }
}

TEST(RumbleFilter, LeavesVoicesAlone) {
  for (const double frequency_hz : {80.0, 100.0, 200.0, 1000.0, 7000.0}) {
    const std::vector<float> filtered = Filtered(Tone(frequency_hz, 0.5f, 32000), 32000);
    EXPECT_NEAR(Peak(std::span(filtered).subspan(16000)), 0.5f, 0.5f * 0.03f) << frequency_hz;
  }
}

TEST(RumbleFilter, KeepsTheLengthOfShortAudio) {
  for (const size_t samples : {0, 1, 2, 3999, 4000, 4001}) {
    EXPECT_EQ(Filtered(Tone(440.0, 0.5f, samples), 997).size(), samples);
  }
}

TEST(RumbleFilter, IsReadyForTheNextStreamAfterwards) {
  const std::vector<float> input = ReferenceFloats("input.f32");
  RumbleFilter filter;
  std::vector<float> output;
  filter.Push(Tone(30.0, 0.9f, 9000), output);
  filter.Finish(output);
  output.clear();
  filter.Push(input, output);
  filter.Finish(output);
  EXPECT_EQ(output, Filtered(input, input.size()));
}

TEST(RumbleFilter, IsSilentInDigitalSilence) {
  std::vector<float> input = Tone(90.0, 0.9f, 16000);
  input.resize(3 * 16000, 0.0f);
  const std::vector<float> filtered = Filtered(input, 160);
  EXPECT_TRUE(
      std::all_of(filtered.end() - 8000, filtered.end(), [](float sample) { return sample == 0.0f; }));
}

TEST(RumbleFilter, GoesOnFromASavedState) {
  const std::vector<float> input = ReferenceFloats("input.f32");
  for (const size_t split : {0, 100, 4000, 5000}) {
    RumbleFilter before;
    std::vector<float> output;
    before.Push(std::span(input).first(split), output);
    SavedState saved;
    before.Transfer(saved);
    RumbleFilter after;
    SavedState read(saved.bytes());
    after.Transfer(read);
    after.Push(std::span(input).subspan(split), output);
    after.Finish(output);
    EXPECT_EQ(output, Filtered(input, input.size())) << split;
  }
}

}  // namespace
}  // namespace veravox::test
