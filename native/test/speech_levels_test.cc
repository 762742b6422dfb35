// SPDX-License-Identifier: Apache-2.0
#include "vad/speech_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "detect_speech.h"
#include "vad/speech_features.h"
#include "vad/speech_scores.h"

namespace veravox {
namespace {

FrameLevels Db(double low, double high) {
  const double neper = std::log(10.0) / 10.0;
  return {static_cast<float>(low * neper), static_cast<float>(high * neper)};
}

void Add(SpeechLevels& levels, int frames, FrameLevels each) {
  for (int i = 0; i < frames; ++i) levels.Add(each);
}

// Bursts of 0.3 s with the spectrum of a vowel and a hiss, and 0.2 s without. The detector judges each burst
// alike.
std::vector<float> Bursts(size_t count, float hiss, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0f, 1.0f);
  std::vector<float> samples(count);
  float before = 0.0f;
  for (size_t i = 0; i < count; ++i) {
    if (i % 8000 >= 4800) continue;
    const double t = static_cast<double>(i) / 16000.0;
    double voice = 0.0;
    for (int k = 1; k <= 20; ++k) voice += std::sin(2.0 * std::numbers::pi * 130.0 * k * t + k) / k;
    const float noise = normal(generator);
    samples[i] = static_cast<float>(0.1 * voice) + hiss * (noise - before);
    before = noise;
  }
  return samples;
}

// Four syllables a second, which fade into each other, and white noise.
std::vector<float> Syllables(size_t count, float hiss) {
  std::mt19937 generator(3);
  std::normal_distribution<float> normal(0.0f, hiss);
  std::vector<float> samples(count);
  for (size_t i = 0; i < count; ++i) {
    const double t = static_cast<double>(i) / 16000.0;
    const double loudness = std::pow(std::abs(std::sin(std::numbers::pi * 4.0 * t)), 3.0);
    double voice = 0.0;
    for (int k = 1; k <= 20; ++k) voice += std::sin(2.0 * std::numbers::pi * 130.0 * k * t + k) / k;
    samples[i] = static_cast<float>(0.1 * loudness * voice) + normal(generator);
  }
  return samples;
}

TEST(SpeechLevelsTest, TooLittleSpeechTellsNothing) {
  SpeechLevels levels;
  EXPECT_FALSE(levels.HighBandDropDb());
  EXPECT_FALSE(levels.NoiseGapDb());
  Add(levels, 99, Db(0.0, -20.0));
  EXPECT_FALSE(levels.HighBandDropDb());
  EXPECT_FALSE(levels.NoiseGapDb());
  Add(levels, 1, Db(0.0, -20.0));
  EXPECT_TRUE(levels.HighBandDropDb());
  EXPECT_TRUE(levels.NoiseGapDb());
  levels.Reset();
  EXPECT_FALSE(levels.HighBandDropDb());
  EXPECT_FALSE(levels.NoiseGapDb());
}

TEST(SpeechLevelsTest, AreThoseOfTheLoudestAndTheQuietestSpeech) {
  SpeechLevels levels;
  // A twentieth of sibilants, which are loud above, a tenth of stressed vowels, and a few gaps between words.
  Add(levels, 780, Db(-30.0, -60.0));
  Add(levels, 60, Db(-30.0, -15.0));
  Add(levels, 120, Db(0.0, -45.0));
  Add(levels, 20, Db(-50.0, -60.0));
  Add(levels, 20, Db(-65.0, -60.0));
  EXPECT_NEAR(*levels.HighBandDropDb(), 15.0, 1.0);
  EXPECT_NEAR(*levels.NoiseGapDb(), 50.0, 1.0);
}

TEST(SpeechLevelsTest, DigitalSilenceHidesNoNoise) {
  SpeechLevels levels;
  Add(levels, 500, Db(0.0, -20.0));
  Add(levels, 460, Db(-20.0, -40.0));
  Add(levels, 40, Db(-25.0, -40.0));
  EXPECT_NEAR(*levels.NoiseGapDb(), 25.0, 1.0);
  Add(levels, 20'000, Db(-120.0, -120.0));
  EXPECT_NEAR(*levels.NoiseGapDb(), 25.0, 1.0);
  levels.Reset();
  Add(levels, 99, Db(0.0, -20.0));
  Add(levels, 1000, Db(-120.0, -120.0));
  EXPECT_FALSE(levels.NoiseGapDb());
}

TEST(SpeechLevelsTest, ExtremeLevelsStayInTheirPlace) {
  SpeechLevels levels;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Add(levels, 100, {kInfinity, -kInfinity});
  EXPECT_NEAR(*levels.HighBandDropDb(), 159.0, 1.0);
  EXPECT_NEAR(*levels.NoiseGapDb(), 0.0, 1.0);
  levels.Reset();
  // All of it silent.
  Add(levels, 100, {-kInfinity, 1e30f});
  EXPECT_NEAR(*levels.HighBandDropDb(), -159.0, 1.0);
  EXPECT_FALSE(levels.NoiseGapDb());
}

// Uses the detector's own choice of speech, on a voice without pauses, which a measure of pauses cannot hear.
TEST(SpeechLevelsTest, NoiseIsHeardWithoutPauses) {
  const auto gap_db = [](float hiss) {
    VoiceActivityDetector detector;
    const std::vector<float> samples = Syllables(80'000, hiss);
    const std::vector<uint8_t> speech = DetectSpeech(detector, samples, 999);
    EXPECT_GT(std::count(speech.begin(), speech.end(), 1), 470) << hiss;
    return *detector.levels().NoiseGapDb();
  };
  EXPECT_GT(gap_db(0.0001f), 35.0);
  EXPECT_LT(gap_db(0.01f), 31.0);
}

TEST(SpeechLevelsTest, DoNotDependOnBlocksNorOnTheStreamBefore) {
  const std::vector<float> samples = Bursts(80'123, 0.02f, 1);
  VoiceActivityDetector detector;
  DetectSpeech(detector, samples, samples.size());
  const auto drop_db = detector.levels().HighBandDropDb();
  const auto gap_db = detector.levels().NoiseGapDb();
  ASSERT_TRUE(drop_db);
  for (const size_t block : {1, 7, 160, 1000, 4096}) {
    // The sound in between is much louder.
    DetectSpeech(detector, Bursts(50'000, 3.0f, 2), 999);
    EXPECT_NE(detector.levels().HighBandDropDb(), drop_db);
    DetectSpeech(detector, samples, block);
    EXPECT_EQ(detector.levels().HighBandDropDb(), drop_db) << block;
    EXPECT_EQ(detector.levels().NoiseGapDb(), gap_db) << block;
  }
}

TEST(SpeechLevelsTest, ComeWithTheDecisionOnTheSameFrame) {
  // A sweep that swells: no two frames are alike.
  constexpr size_t kFrames = 160;
  std::vector<float> samples(kFrames * SpeechFeatures::kHopSamples);
  double phase = 0.0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(samples.size());
    phase += 2.0 * std::numbers::pi * (300.0 + 6000.0 * at) / 16000.0;
    samples[i] = static_cast<float>((0.01 + at) * std::sin(phase));
  }
  std::vector<FrameLevels> given;
  SpeechScores scores;
  const auto store = [&](float, FrameLevels levels) { given.push_back(levels); };
  for (size_t i = 0; i < samples.size(); i += 999) {
    scores.Push(std::span(samples).subspan(i, std::min<size_t>(999, samples.size() - i)), store);
  }
  scores.Finish(store);
  ASSERT_EQ(given.size(), kFrames);

  std::vector<float> padded(SpeechFeatures::kOverhangSamples, 0.0f);
  padded.insert(padded.end(), samples.begin(), samples.end());
  padded.resize(padded.size() + SpeechFeatures::kBlockSamples, 0.0f);
  SpeechFeatures features;
  SpeechFeatures::Block block;
  for (size_t frame = 0; frame < kFrames; frame += SpeechFeatures::kBlockFrames) {
    const float* start = &padded[frame * SpeechFeatures::kHopSamples];
    features.Compute(
        std::span<const float, SpeechFeatures::kBlockSamples>(start, SpeechFeatures::kBlockSamples), block);
    for (size_t i = 0; i < SpeechFeatures::kBlockFrames; ++i) {
      EXPECT_EQ(given[frame + i].low, features.levels()[i].low) << frame + i;
      EXPECT_EQ(given[frame + i].high, features.levels()[i].high) << frame + i;
    }
  }
}

}  // namespace
}  // namespace veravox
