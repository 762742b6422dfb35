// SPDX-License-Identifier: Apache-2.0
#include "vad/voice_activity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "detect_speech.h"
#include "vad/speech_features.h"
#include "vad/speech_network.h"
#include "vad/speech_scores.h"

namespace veravox {
namespace {

constexpr int kRateHz = VoiceActivityDetector::kSampleRateHz;
constexpr size_t kFrame = VoiceActivityDetector::kFrameSamples;
using Samples = std::vector<float>;
using Decisions = std::vector<uint8_t>;

Decisions Detect(std::span<const float> samples) {
  VoiceActivityDetector detector;
  return DetectSpeech(detector, samples, samples.size());
}

double Share(std::span<const uint8_t> decisions) {
  return std::accumulate(decisions.begin(), decisions.end(), 0.0) / static_cast<double>(decisions.size());
}

// A recording at 16 kHz, scaled so that its peak is `peak`.
Samples Recording(const std::string& name, float peak = 0.5f) {
  std::ifstream file(std::string(VERAVOX_SOURCE_DIR "/test/fixtures/") + name, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  const StopSignal never;
  Decoder decoder(bytes, DecodeOptions{}, never);
  Samples samples;
  MonoBlock block;
  while (decoder.Next(block)) {
    EXPECT_EQ(block.sample_rate_hz, kRateHz) << name;
    samples.insert(samples.end(), block.samples.begin(), block.samples.end());
  }
  float loudest = 0.0f;
  for (const float sample : samples) loudest = std::max(loudest, std::abs(sample));
  for (float& sample : samples) sample *= peak / loudest;
  return samples;
}

Samples White(size_t count, float deviation, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0f, deviation);
  Samples samples(count);
  for (float& sample : samples) sample = normal(generator);
  return samples;
}

// Noise through `poles` one-pole low-passes.
Samples LowPassed(size_t count, float deviation, float pole, int poles) {
  Samples samples = White(count, 1.0f);
  for (int i = 0; i < poles; ++i) {
    float state = 0.0f;
    for (float& sample : samples) sample = state = pole * state + (1.0f - pole) * sample;
  }
  double power = 0.0;
  for (const float sample : samples) power += sample * sample;
  const auto scale = static_cast<float>(deviation / std::sqrt(power / static_cast<double>(count)));
  for (float& sample : samples) sample *= scale;
  return samples;
}

// Equal power per octave: a sum of noises, each changing half as often as the one before.
Samples Pink(size_t count, float deviation) {
  Samples sum(count, 0.0f);
  constexpr int kRows = 12;
  std::mt19937 generator(2);
  std::normal_distribution<float> normal(0.0f, deviation / std::sqrt(static_cast<float>(kRows)));
  for (int row = 0; row < kRows; ++row) {
    float value = 0.0f;
    for (size_t i = 0; i < count; ++i) {
      if (i % (size_t{1} << row) == 0) value = normal(generator);
      sum[i] += value;
    }
  }
  return sum;
}

Samples Hum(size_t count, float amplitude, double base_hz) {
  Samples samples(count);
  for (size_t i = 0; i < count; ++i) {
    for (int harmonic = 1; harmonic <= 9; ++harmonic) {
      const double phase = 2.0 * std::numbers::pi * base_hz * harmonic * static_cast<double>(i) / kRateHz;
      samples[i] += amplitude / static_cast<float>(harmonic) * static_cast<float>(std::sin(phase + harmonic));
    }
  }
  return samples;
}

Samples RoomTone(size_t count, float deviation) {
  Samples samples = LowPassed(count, deviation, 0.95f, 2);
  const Samples hum = Hum(count, deviation * 0.3f, 50.0);
  for (size_t i = 0; i < count; ++i) samples[i] += hum[i];
  return samples;
}

Samples Clicks(size_t count, float amplitude, double per_second) {
  Samples samples = White(count, amplitude * 1e-3f);
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> place(0.0, static_cast<double>(count - 200));
  for (double click = 0; click < per_second * static_cast<double>(count) / kRateHz; ++click) {
    const auto start = static_cast<size_t>(place(generator));
    for (size_t i = 0; i < 200; ++i) {
      const float sign = generator() % 2 == 0 ? 1.0f : -1.0f;
      samples[start + i] += sign * amplitude * std::exp(-static_cast<float>(i) / 30.0f);
    }
  }
  return samples;
}

// ---- Contract

TEST(VoiceActivityTest, GivesOneDecisionPerStartedFrame) {
  for (const size_t count : {0, 1, 159, 160, 161, 1279, 1280, 16000, 80001}) {
    EXPECT_EQ(Detect(White(count, 0.1f)).size(), (count + kFrame - 1) / kFrame) << count << " samples";
  }
}

TEST(VoiceActivityTest, BlockSizeMakesNoDifference) {
  Samples samples = Recording("human-lj-a.flac");
  samples.resize(std::min<size_t>(samples.size(), 50001));
  VoiceActivityDetector detector;
  const Decisions whole = DetectSpeech(detector, samples, samples.size());
  EXPECT_GT(Share(whole), 0.0);
  for (const size_t block : {1, 7, 160, 1000, 4096})
    EXPECT_EQ(DetectSpeech(detector, samples, block), whole) << block;

  const auto scores_of = [&](size_t block) {
    SpeechScores scores;
    std::vector<float> result;
    const auto store = [&](float log_odds, const auto&) { result.push_back(log_odds); };
    for (size_t i = 0; i < samples.size(); i += block) {
      scores.Push(std::span(samples).subspan(i, std::min(block, samples.size() - i)), store);
    }
    scores.Finish(store);
    return result;
  };
  EXPECT_EQ(scores_of(1), scores_of(1000));  // to the bit
}

TEST(VoiceActivityTest, IsAsNewAfterFinish) {
  const Samples speech = Recording("human-lj-b.flac");
  const Decisions fresh = Detect(speech);
  VoiceActivityDetector detector;
  DetectSpeech(detector, White(12345, 0.3f), 1000);
  EXPECT_EQ(DetectSpeech(detector, speech, 1000), fresh);
}

TEST(VoiceActivityTest, DecidesWithin250Milliseconds) {
  VoiceActivityDetector detector;
  Decisions speech;
  const Samples samples = White(32000, 0.1f);
  for (size_t pushed = 0; pushed < samples.size(); pushed += kFrame) {
    detector.Push(std::span(samples).subspan(pushed, kFrame), speech);
    ASSERT_GE(speech.size() + 25, (pushed + kFrame) / kFrame);
  }
}

TEST(VoiceActivityTest, SamplesThatAreNoNumbersDoNotSpread) {
  Samples samples = Recording("human-lj-a.flac");
  const Decisions expected = Detect(samples);
  samples[20000] = std::numeric_limits<float>::quiet_NaN();
  samples[20100] = std::numeric_limits<float>::infinity();
  samples[20200] = 3e38f;
  const Decisions found = Detect(samples);
  ASSERT_EQ(found.size(), expected.size());
  size_t differing = 0;
  for (size_t i = 200; i < found.size(); ++i) differing += found[i] != expected[i];
  EXPECT_LE(differing, found.size() / 50);
}

// ---- What is not speech

struct Noise {
  std::string name;
  std::function<Samples(size_t count, float level)> make;
};

class NotSpeech : public testing::TestWithParam<Noise> {};

TEST_P(NotSpeech, IsGatedAtAnyLevel) {
  for (const float level : {0.3f, 0.03f, 0.003f, 0.0003f}) {
    EXPECT_LE(Share(Detect(GetParam().make(10 * kRateHz, level))), 0.02)
        << GetParam().name << " at " << level;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Noises, NotSpeech,
    testing::Values(Noise{"Silence", [](size_t count, float) { return Samples(count, 0.0f); }},
                    Noise{"ConstantOffset", [](size_t count, float level) { return Samples(count, level); }},
                    Noise{"White", [](size_t count, float level) { return White(count, level); }},
                    Noise{"Pink", Pink},
                    Noise{"Brown",
                          [](size_t count, float level) { return LowPassed(count, level, 0.99f, 1); }},
                    Noise{"Hum50Hz", [](size_t count, float level) { return Hum(count, level, 50.0); }},
                    Noise{"Hum60Hz", [](size_t count, float level) { return Hum(count, level, 60.0); }},
                    Noise{"RoomTone", RoomTone},
                    Noise{"RareClicks", [](size_t count, float level) { return Clicks(count, level, 0.7); }},
                    Noise{"ManyClicks", [](size_t count, float level) { return Clicks(count, level, 8.0); }}),
    [](const auto& noise) { return noise.param.name; });

// ---- What is speech

class Speech : public testing::TestWithParam<const char*> {};

// Share of the speech of `clean` that is found in `mixed`. Speech means frames within 25 dB of the loudest,
// after a high-pass at 100 Hz: rumble is not speech.
double Recall(const Samples& clean, const Decisions& found) {
  constexpr double kPole = 0.961;
  std::vector<double> power(clean.size() / kFrame);
  double first = 0.0, second = 0.0, last = 0.0, last_first = 0.0;
  for (size_t i = 0; i < power.size() * kFrame; ++i) {
    first = kPole * (first + clean[i] - last);
    second = kPole * (second + first - last_first);
    last = clean[i];
    last_first = first;
    power[i / kFrame] += second * second;
  }
  const double least = *std::max_element(power.begin(), power.end()) * std::pow(10.0, -2.5);
  double hits = 0, all = 0;
  for (size_t frame = 0; frame < power.size(); ++frame) {
    if (power[frame] < least) continue;
    ++all;
    hits += found[frame];
  }
  return hits / all;
}

TEST_P(Speech, IsFoundAtAnyLevel) {
  for (const float peak : {1.0f, 0.1f, 0.01f, 0.003f}) {
    const Samples speech = Recording(GetParam(), peak);
    EXPECT_GE(Recall(speech, Detect(speech)), 0.98) << "peak " << peak;
  }
}

TEST_P(Speech, IsFoundInNoise) {
  const Samples speech = Recording(GetParam(), 0.5f);
  const Noise noises[] = {{"white", [](size_t count, float level) { return White(count, level); }},
                          {"pink", Pink},
                          {"hum", [](size_t count, float level) { return Hum(count, level, 50.0); }},
                          {"room tone", RoomTone}};
  double power = 0.0;
  for (const float sample : speech) power += sample * sample;
  const auto rms = static_cast<float>(std::sqrt(power / static_cast<double>(speech.size())));
  for (const Noise& noise : noises) {
    Samples mixed = noise.make(speech.size(), rms * 0.316f);  // 10 dB below
    for (size_t i = 0; i < mixed.size(); ++i) mixed[i] += speech[i];
    EXPECT_GE(Recall(speech, Detect(mixed)), 0.9) << noise.name;
  }
}

TEST_P(Speech, EndsAndBeginsWithTheVoice) {
  const Samples speech = Recording(GetParam());
  constexpr size_t kPauseFrames = 200;
  Samples samples(kPauseFrames * kFrame, 0.0f);
  samples.insert(samples.end(), speech.begin(), speech.end());
  samples.resize(samples.size() / kFrame * kFrame + kPauseFrames * kFrame, 0.0f);
  const Decisions found = Detect(samples);
  const std::span all(found);
  EXPECT_LE(Share(all.first(kPauseFrames)), 0.1);
  EXPECT_LE(Share(all.last(kPauseFrames)), 0.15);
}

INSTANTIATE_TEST_SUITE_P(Recordings, Speech,
                         testing::Values("human-lj-a.flac", "human-lj-b.flac", "human-vctk-p237.flac",
                                         "ai-kokoro.flac", "ai-wavenet-lj.flac"),
                         [](const auto& recording) {
                           std::string name = recording.param;
                           std::erase_if(name,
                                         [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
                           return name;
                         });

// ---- The parts, against references

std::vector<SimdLevel> SimdLevels() {
  std::vector<SimdLevel> levels{SimdLevel::kBaseline};
  if (BestSimdLevel() >= SimdLevel::kAvx2) levels.push_back(SimdLevel::kAvx2);
  if (BestSimdLevel() >= SimdLevel::kAvx512) levels.push_back(SimdLevel::kAvx512);
  return levels;
}

// Outputs of the PyTorch network with the same weights, step by step.
constexpr float kReferenceOutputs[][SpeechNetwork::kStepFrames] = {
#include "speech_network_reference.inc"
};

TEST(SpeechNetworkTest, AgreesWithPyTorch) {
  for (const SimdLevel level : SimdLevels()) {
    SpeechNetwork network(level);
    for (int round = 0; round < 2; ++round) {
      for (size_t step = 0; step < std::size(kReferenceOutputs); ++step) {
        std::array<float, SpeechNetwork::kInputs> inputs;
        for (size_t i = 0; i < inputs.size(); ++i) {
          inputs[i] = static_cast<float>(3.0 * std::sin(0.1 * static_cast<double>((step + 1) * (i + 1))));
        }
        const auto outputs = network.Step(inputs);
        for (size_t frame = 0; frame < outputs.size(); ++frame) {
          EXPECT_NEAR(outputs[frame], kReferenceOutputs[step][frame], 1e-3)
              << "level " << static_cast<int>(level) << " step " << step;
        }
      }
      network.Reset();
    }
  }
}

// The definition, in double precision: periodic Hann window, DFT, mel triangles, logarithm.
std::vector<double> LogMel(const float* window) {
  constexpr int kSize = SpeechFeatures::kWindowSamples;
  std::vector<double> power(kSize / 2 + 1);
  for (int k = 0; k <= kSize / 2; ++k) {
    double re = 0.0, im = 0.0;
    for (int i = 0; i < kSize; ++i) {
      const double weighted = window[i] * (0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * i / kSize));
      re += weighted * std::cos(2.0 * std::numbers::pi * k * i / kSize);
      im -= weighted * std::sin(2.0 * std::numbers::pi * k * i / kSize);
    }
    power[k] = re * re + im * im;
  }
  const auto mel = [](double hz) { return 2595.0 * std::log10(1.0 + hz / 700.0); };
  const auto edge_hz = [&](size_t i) {
    const double at =
        mel(100.0) + (mel(8000.0) - mel(100.0)) * static_cast<double>(i) / (SpeechFeatures::kBands + 1);
    return 700.0 * (std::pow(10.0, at / 2595.0) - 1.0);
  };
  std::vector<double> bands(SpeechFeatures::kBands);
  for (size_t band = 0; band < bands.size(); ++band) {
    double sum = 0.0;
    for (int k = 0; k <= kSize / 2; ++k) {
      const double hz = 62.5 * k;
      const double rising = (hz - edge_hz(band)) / (edge_hz(band + 1) - edge_hz(band));
      const double falling = (edge_hz(band + 2) - hz) / (edge_hz(band + 2) - edge_hz(band + 1));
      sum += std::max(0.0, std::min(rising, falling)) * power[k];
    }
    bands[band] = std::log(std::max(sum, 1e-7));
  }
  return bands;
}

TEST(SpeechFeaturesTest, AreLogMelBandsRelativeToTheMeanLevelSoFar) {
  constexpr size_t kBlocks = 3;
  Samples samples =
      White(SpeechFeatures::kBlockSamples + (kBlocks - 1) * SpeechFeatures::kBlockFrames * kFrame, 0.1f);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] *= i < 1500 ? 0.01f : 1.0f;  // a step in level
  SpeechFeatures features;
  SpeechFeatures::Block block;
  double level_sum = 0.0;
  for (size_t frame = 0; frame < kBlocks * SpeechFeatures::kBlockFrames; ++frame) {
    const size_t in_block = frame % SpeechFeatures::kBlockFrames;
    if (in_block == 0) {
      features.Compute(std::span<const float, SpeechFeatures::kBlockSamples>(&samples[frame * kFrame],
                                                                             SpeechFeatures::kBlockSamples),
                       block);
    }
    const std::vector<double> expected = LogMel(&samples[frame * kFrame]);
    level_sum += std::accumulate(expected.begin(), expected.end(), 0.0) / SpeechFeatures::kBands;
    for (size_t band = 0; band < SpeechFeatures::kBands; ++band) {
      EXPECT_NEAR(block[in_block * SpeechFeatures::kBands + band],
                  0.25 * (expected[band] - level_sum / static_cast<double>(frame + 1)), 1e-4)
          << "frame " << frame << " band " << band;
    }
  }
}

}  // namespace
}  // namespace veravox
