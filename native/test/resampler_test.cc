// SPDX-License-Identifier: Apache-2.0

// The resampler against sines, whose values at any rate are known exactly.

#include "resample/resampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "stage_error.h"

namespace veravox {
namespace {

constexpr int kTargetHz = 16000;
constexpr double kPi = std::numbers::pi;

// Every path: up and down, exact and interpolated phases, no halving up to four halvings, odd and prime
// rates.
const std::vector<int> kRatesHz = {4000,  6000,  7350,  8000,  11025,  12000,  15999,  16001, 17999,
                                   18000, 22050, 24000, 32000, 37800,  44100,  44101,  47999, 48000,
                                   50000, 64000, 88200, 96000, 176400, 192000, 383999, 384000};

std::vector<float> Sine(double frequency_hz, int rate_hz, size_t samples) {
  std::vector<float> sine(samples);
  for (size_t i = 0; i < samples; ++i) {
    sine[i] = static_cast<float>(std::sin(2.0 * kPi * frequency_hz * static_cast<double>(i) / rate_hz + 0.3));
  }
  return sine;
}

std::vector<float> Noise(size_t samples) {
  std::vector<float> noise(samples);
  uint32_t state = 12345;
  for (float& value : noise) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  return noise;
}

std::vector<float> Resample(int input_hz, int output_hz, const std::vector<float>& input,
                            SimdLevel level = BestSimdLevel()) {
  Resampler resampler(input_hz, output_hz, level);
  std::vector<float> output;
  resampler.Push(input, output);
  resampler.Finish(output);
  return output;
}

double Decibel(double amplitude) { return 20.0 * std::log10(std::max(amplitude, 1e-12)); }

// Far from the ends, where the input's abrupt start and end affect all frequencies.
struct Middle {
  explicit Middle(const std::vector<float>& output)
      : first(output.size() / 4), count(output.size() / 2), values(&output[first]) {}
  size_t first;
  size_t count;
  const float* values;
};

double Rms(const std::vector<float>& output) {
  const Middle middle(output);
  double sum = 0.0;
  for (size_t i = 0; i < middle.count; ++i) sum += static_cast<double>(middle.values[i]) * middle.values[i];
  return std::sqrt(sum / static_cast<double>(middle.count));
}

class ResamplerRate : public testing::TestWithParam<int> {
 protected:
  double highest_hz() const { return 0.5 * std::min(GetParam(), kTargetHz); }
  size_t samples() const { return static_cast<size_t>(GetParam() * 0.3); }
};

TEST_P(ResamplerRate, PassBandIsFlatAlignedAndClean) {
  for (const double share : {0.0125, 0.1, 0.3, 0.5, 0.7, 0.8, 0.875, 0.9}) {
    const double frequency_hz = share * highest_hz();
    const std::vector<float> output =
        Resample(GetParam(), kTargetHz, Sine(frequency_hz, GetParam(), samples()));
    const std::vector<float> ideal = Sine(frequency_hz, kTargetHz, output.size());
    const Middle computed(output);
    const Middle expected(ideal);
    double error = 0.0;
    for (size_t i = 0; i < computed.count; ++i) {
      error += std::pow(static_cast<double>(computed.values[i]) - expected.values[i], 2);
    }
    error = std::sqrt(error / static_cast<double>(computed.count));
    // An error of -100 dB leaves no room for 0.1 dB of ripple or a delay of a thousandth of a sample.
    EXPECT_LT(Decibel(error / Rms(ideal)), -100.0) << frequency_hz << " Hz";
  }
}

// Frequencies above the lower rate's highest one vanish (going down), and so do images (going up).
TEST_P(ResamplerRate, StopBandIsHundredDecibelDown) {
  const double input_highest_hz = 0.5 * GetParam();
  std::vector<double> frequencies_hz;
  for (double hz = highest_hz(); hz <= input_highest_hz; hz += std::max(50.0, 0.021 * input_highest_hz)) {
    frequencies_hz.push_back(hz);
  }
  for (const double frequency_hz : frequencies_hz) {
    const std::vector<float> input = Sine(frequency_hz, GetParam(), samples());
    const std::vector<float> output = Resample(GetParam(), kTargetHz, input);
    EXPECT_LT(Decibel(Rms(output) / Rms(input)), -100.0) << frequency_hz << " Hz";
  }
}

// Between pass band and stop band a tone may be weakened, but nothing else may appear.
TEST_P(ResamplerRate, TransitionBandHasNoImages) {
  for (const double share : {0.92, 0.95, 0.97, 0.99}) {
    const double radians = 2.0 * kPi * share * highest_hz() / kTargetHz;
    const std::vector<float> output =
        Resample(GetParam(), kTargetHz, Sine(share * highest_hz(), GetParam(), samples()));
    const Middle middle(output);
    // Least squares with a sine and a cosine of the tone's frequency.
    double ss = 0.0, sc = 0.0, cc = 0.0, xs = 0.0, xc = 0.0;
    for (size_t i = 0; i < middle.count; ++i) {
      const double s = std::sin(radians * static_cast<double>(i));
      const double c = std::cos(radians * static_cast<double>(i));
      ss += s * s;
      sc += s * c;
      cc += c * c;
      xs += middle.values[i] * s;
      xc += middle.values[i] * c;
    }
    const double determinant = ss * cc - sc * sc;
    const double sine = (xs * cc - xc * sc) / determinant;
    const double cosine = (xc * ss - xs * sc) / determinant;
    double rest = 0.0;
    for (size_t i = 0; i < middle.count; ++i) {
      const double angle = radians * static_cast<double>(i);
      rest += std::pow(middle.values[i] - sine * std::sin(angle) - cosine * std::cos(angle), 2);
    }
    rest = std::sqrt(2.0 * rest / static_cast<double>(middle.count));
    EXPECT_LT(Decibel(rest), -100.0) << share * highest_hz() << " Hz";
    EXPECT_LT(std::hypot(sine, cosine), 1.0);
  }
}

TEST_P(ResamplerRate, GivesTheExactNumberOfSamples) {
  for (const int64_t count : {0, 1, 2, 3, 7, 15, 16, 17, 100, 441, 999, 1024, 4095, 4096, 4097, 20011}) {
    const auto output = Resample(GetParam(), kTargetHz, std::vector<float>(static_cast<size_t>(count)));
    EXPECT_EQ(static_cast<int64_t>(output.size()), (count * kTargetHz + GetParam() - 1) / GetParam())
        << count;
  }
}

TEST_P(ResamplerRate, BlocksDoNotChangeABit) {
  const std::vector<float> input = Noise(9001);
  const std::vector<float> whole = Resample(GetParam(), kTargetHz, input);
  Resampler resampler(GetParam(), kTargetHz);  // one object, which also tests a second stream
  for (const size_t block : {size_t{1}, size_t{7}, size_t{160}, size_t{1024}, size_t{5000}}) {
    std::vector<float> output;
    for (size_t first = 0; first < input.size(); first += block) {
      resampler.Push({&input[first], std::min(block, input.size() - first)}, output);
      resampler.Push({}, output);
    }
    EXPECT_LE(output.size(), whole.size());
    resampler.Finish(output);
    EXPECT_EQ(output, whole) << "in blocks of " << block;
  }
}

// The first and last samples are filtered as if silence surrounded the stream, even through several stages.
TEST_P(ResamplerRate, EndsAreSurroundedBySilence) {
  const std::vector<float> input = Noise(3000);
  // A whole number of output samples for every rate, but not of halved samples: the phases differ, hence a
  // tolerance of -106 dB.
  const auto silence = static_cast<size_t>(GetParam());
  std::vector<float> padded(silence, 0.0f);
  padded.insert(padded.end(), input.begin(), input.end());
  padded.insert(padded.end(), silence, 0.0f);
  const std::vector<float> expected = Resample(GetParam(), kTargetHz, padded);
  const std::vector<float> output = Resample(GetParam(), kTargetHz, input);
  for (size_t i = 0; i < output.size(); ++i) ASSERT_NEAR(output[i], expected[kTargetHz + i], 5e-6) << i;
}

TEST_P(ResamplerRate, SimdLevelsAgree) {
  const std::vector<float> input = Noise(5000);
  const std::vector<float> baseline = Resample(GetParam(), kTargetHz, input, SimdLevel::kBaseline);
  const std::vector<float> best = Resample(GetParam(), kTargetHz, input);
  ASSERT_EQ(baseline.size(), best.size());
  for (size_t i = 0; i < best.size(); ++i) ASSERT_NEAR(baseline[i], best[i], 2e-6) << i;
}

TEST_P(ResamplerRate, RecoversFromNonFiniteSamples) {
  std::vector<float> input(static_cast<size_t>(GetParam()), 0.0f);
  input[input.size() / 2] = std::numeric_limits<float>::quiet_NaN();
  Resampler resampler(GetParam(), kTargetHz);
  std::vector<float> output;
  resampler.Push(input, output);
  resampler.Finish(output);
  const size_t reach = kTargetHz / 10;
  for (size_t i = 0; i < output.size(); ++i) {
    if (i < output.size() / 2 - reach || i > output.size() / 2 + reach) ASSERT_EQ(output[i], 0.0f) << i;
  }
  output.clear();
  resampler.Push(std::vector<float>(1000, 0.0f), output);
  resampler.Finish(output);
  for (const float value : output) ASSERT_EQ(value, 0.0f);
}

INSTANTIATE_TEST_SUITE_P(Rates, ResamplerRate, testing::ValuesIn(kRatesHz),
                         [](const auto& info) { return std::to_string(info.param) + "Hz"; });

TEST(Resampler, EqualRatesCopy) {
  const std::vector<float> input = Noise(1234);
  EXPECT_EQ(Resample(kTargetHz, kTargetHz, input), input);
  EXPECT_EQ(Resample(44101, 44101, input), input);
}

TEST(Resampler, OtherTargetsKeepTheirPromise) {
  const int pairs[][2] = {{16000, 8000}, {16000, 22050}, {48000, 44100}, {44100, 8000}, {8000, 48000}};
  for (const auto& [input_hz, output_hz] : pairs) {
    const double frequency_hz = 0.45 * std::min(input_hz, output_hz);
    const std::vector<float> output =
        Resample(input_hz, output_hz, Sine(frequency_hz, input_hz, static_cast<size_t>(input_hz) / 2));
    const std::vector<float> ideal = Sine(frequency_hz, output_hz, output.size());
    std::vector<float> error(output.size());
    for (size_t i = 0; i < error.size(); ++i) error[i] = output[i] - ideal[i];
    EXPECT_LT(Decibel(Rms(error) / Rms(ideal)), -100.0) << input_hz << " to " << output_hz;
  }
}

TEST(Resampler, RefusesImpossibleRates) {
  for (const int rate_hz : {0, 999, -8000, 768001, std::numeric_limits<int>::min()}) {
    EXPECT_THROW(Resampler(rate_hz, kTargetHz), StageError) << rate_hz;
    EXPECT_THROW(Resampler(kTargetHz, rate_hz), StageError) << rate_hz;
  }
}

TEST(Resampler, SurvivesTheMostExtremeRatios) {
  EXPECT_EQ(Resample(768000, 1000, std::vector<float>(768001, 0.5f)).size(), 1001u);
  EXPECT_EQ(Resample(1000, 768000, std::vector<float>(20, 0.5f)).size(), 15360u);
}

}  // namespace
}  // namespace veravox
