// SPDX-License-Identifier: Apache-2.0

// The feature extractor against numbers that test/reference/features.py computed in float64 from the
// definitions.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "feature_references.h"
#include "features/feature_extractor.h"
#include "features/mean_spectrum.h"
#include "features/phase_coherence.h"
#include "features/recipe_text.h"
#include "features/spectrogram.h"
#include "reference_numbers.h"

namespace veravox {
namespace {

struct Case {
  const char* name;
  size_t samples;
};

FeatureRecipe ReadRecipe(const Case& reference) {
  const auto text = test::ReadFile(test::FeatureReference(std::string(reference.name) + ".recipe"));
  return ParseRecipe(std::string(text.begin(), text.end()));
}

std::vector<float> Input(const Case& reference) {
  std::vector<float> samples = test::ReferenceFloats("input.f32");
  EXPECT_GE(samples.size(), reference.samples);
  samples.resize(reference.samples);
  return samples;
}

// 1e-4 of the value. A logarithm turns that into a constant; a normalised value is measured against its
// band's standard deviation, which is 1. Without a logarithm, values that nearly cancel are also allowed 1e-7
// of the largest one, the resolution of float32. The weak bins of a long transform nearly cancel, and their
// logarithm or phase is taken.
double Tolerance(const FeatureRecipe& recipe, double expected, double largest) {
  if (!recipe.mean_spectrum_fft_sizes.empty() || !recipe.phase_coherence_fft_sizes.empty()) return 1e-3;
  if (recipe.normalisation == FeatureRecipe::Normalisation::kMeanVariance) return 1e-4;
  if (recipe.kind == FeatureRecipe::Kind::kSpectrogram) {
    if (recipe.log == FeatureRecipe::Log::kNatural) return 1e-4;
    if (recipe.log == FeatureRecipe::Log::kLog10) return 1e-4 * std::numbers::log10e;
    if (recipe.log == FeatureRecipe::Log::kDecibel) return 1e-3 * std::numbers::log10e;
  }
  return 1e-4 * std::abs(expected) + 1e-7 * largest;
}

void ExpectClose(const FeatureRecipe& recipe, const std::vector<float>& computed,
                 const std::vector<float>& expected) {
  ASSERT_EQ(computed.size(), expected.size());
  ASSERT_FALSE(expected.empty());
  double largest = 0.0;
  for (const float value : expected) largest = std::max(largest, std::abs(static_cast<double>(value)));
  size_t wrong = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(static_cast<double>(computed[i]) - expected[i]);
    if (error <= Tolerance(recipe, expected[i], largest)) continue;
    if (++wrong <= 5) ADD_FAILURE() << "[" << i << "] is " << computed[i] << ", expected " << expected[i];
  }
  EXPECT_EQ(wrong, 0u) << "of " << expected.size();
}

class FeaturesReference : public testing::TestWithParam<Case> {};

TEST_P(FeaturesReference, AgreesWithDefinition) {
  const FeatureRecipe recipe = ReadRecipe(GetParam());
  FeatureExtractor extractor(recipe);
  std::vector<float> output(extractor.OutputSize(GetParam().samples), NAN);
  extractor.Compute(Input(GetParam()), output);
  ExpectClose(recipe, output, test::ReferenceFloats(std::string(GetParam().name) + ".f32"));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, FeaturesReference,
    testing::Values(Case{"log_mel", 6400}, Case{"kaldi_povey", 6400}, Case{"kaldi_hamming_mean", 6400},
                    Case{"slaney_centred", 6400}, Case{"centred_on_zeros", 6400},
                    Case{"slaney_on_mel_axis", 6400}, Case{"linear_decibel", 6400},
                    Case{"linear_magnitude", 6400}, Case{"band_mean_variance", 6400},
                    Case{"frame_major_band_mean_variance", 6400}, Case{"global_mean_variance", 6400},
                    Case{"range_mean_variance", 6400}, Case{"range_magnitude_decibel", 6400},
                    Case{"mean_spectrum", 6400}, Case{"mean_spectrum_of_repeats", 1000},
                    Case{"phase_coherence", 6400}, Case{"phase_coherence_of_repeats", 1000},
                    Case{"audible_only", 6400}, Case{"fft_400_log10", 6400}, Case{"fft_262", 2000},
                    Case{"mirrored_repeatedly", 37}, Case{"waveform_gain", 500},
                    Case{"waveform_mean_variance", 500}),
    [](const auto& info) { return std::string(info.param.name); });

// Cases without normalisation, each on every level of this processor; the others run in the field only.
class FeaturesSimdLevel : public testing::TestWithParam<SimdLevel> {};

TEST_P(FeaturesSimdLevel, AgreesWithDefinition) {
  if (GetParam() > BestSimdLevel()) GTEST_SKIP() << "not on this processor";
  for (const Case& reference :
       {Case{"log_mel", 6400}, Case{"kaldi_povey", 6400}, Case{"linear_magnitude", 6400},
        Case{"fft_400_log10", 6400}, Case{"fft_262", 2000}, Case{"mirrored_repeatedly", 37}}) {
    SCOPED_TRACE(reference.name);
    const FeatureRecipe recipe = ReadRecipe(reference);
    const auto spectrogram = Spectrogram::Make(recipe, GetParam());
    const size_t frames = spectrogram->FrameCount(reference.samples);
    std::vector<float> output(frames * static_cast<size_t>(recipe.bands), NAN);
    spectrogram->Compute(Input(reference), output);
    ExpectClose(recipe, output, test::ReferenceFloats(std::string(reference.name) + ".f32"));
  }
}

TEST_P(FeaturesSimdLevel, MeanSpectraAgreeWithDefinition) {
  if (GetParam() > BestSimdLevel()) GTEST_SKIP() << "not on this processor";
  const Case reference{"mean_spectrum", 6400};
  const FeatureRecipe recipe = ReadRecipe(reference);
  MeanSpectrum mean_spectrum(recipe.mean_spectrum_fft_sizes.at(0), recipe.input_gain, 0, GetParam());
  std::vector<float> output(mean_spectrum.OutputSize(), NAN);
  mean_spectrum.Compute(Input(reference), output);
  std::vector<float> expected = test::ReferenceFloats("mean_spectrum.f32");
  expected.erase(expected.begin(), expected.end() - static_cast<std::ptrdiff_t>(output.size()));
  ExpectClose(recipe, output, expected);
}

TEST_P(FeaturesSimdLevel, PhaseCoherenceAgreesWithDefinition) {
  if (GetParam() > BestSimdLevel()) GTEST_SKIP() << "not on this processor";
  const Case reference{"phase_coherence", 6400};
  const FeatureRecipe recipe = ReadRecipe(reference);
  const auto coherence =
      PhaseCoherence::Make(recipe.phase_coherence_fft_sizes.at(0), recipe.input_gain, 0, GetParam());
  std::vector<float> output(coherence->OutputSize(), NAN);
  coherence->Compute(Input(reference), output);
  std::vector<float> expected = test::ReferenceFloats("phase_coherence.f32");
  expected.erase(expected.begin(), expected.end() - static_cast<std::ptrdiff_t>(output.size()));
  ExpectClose(recipe, output, expected);
}

// Sizes whose bins do not fill whole registers, and one frame more than there are lanes.
TEST_P(FeaturesSimdLevel, OddSizesAgreeWithTheBaseline) {
  if (GetParam() == SimdLevel::kBaseline) GTEST_SKIP() << "is the baseline";
  if (GetParam() > BestSimdLevel()) GTEST_SKIP() << "not on this processor";
  const std::vector<float> samples = Input({"input", 6400});
  const auto expect_alike = [&](const char* what, int size, const auto& compute) {
    const std::vector<float> made = compute(GetParam()), expected = compute(SimdLevel::kBaseline);
    ASSERT_EQ(made.size(), expected.size());
    for (size_t i = 0; i < made.size(); ++i) {
      ASSERT_NEAR(made[i], expected[i], 1e-4) << what << " " << size << ", number " << i;
    }
  };
  for (const int size : {8, 12, 36, 460, 1000}) {
    expect_alike("phase coherence of", size, [&](SimdLevel level) {
      const auto coherence = PhaseCoherence::Make(size, 1.0f, 0, level);
      std::vector<float> output(coherence->OutputSize(), NAN);
      coherence->Compute(std::span(samples).first(size + 16 * (size / 4)), output);
      return output;
    });
  }
  for (const int size : {64, 68, 1000}) {
    expect_alike("mean spectrum of", size, [&](SimdLevel level) {
      MeanSpectrum spectrum(size, 1.0f, 0, level);
      std::vector<float> output(spectrum.OutputSize(), NAN);
      spectrum.Compute(samples, output);
      return output;
    });
  }
  for (const int bands : {1, 23, 37}) {
    expect_alike("frames of bands,", bands, [&](SimdLevel level) {
      FeatureRecipe recipe;
      recipe.bands = bands;
      recipe.layout = FeatureRecipe::Layout::kFramesBands;
      const auto spectrogram = Spectrogram::Make(recipe, level);
      std::vector<float> output(spectrogram->FrameCount(samples.size()) * static_cast<size_t>(bands), NAN);
      spectrogram->Compute(samples, output);
      return output;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, FeaturesSimdLevel,
                         testing::Values(SimdLevel::kBaseline, SimdLevel::kAvx2, SimdLevel::kAvx512),
                         [](const auto& info) {
                           return std::string(info.param == SimdLevel::kBaseline ? "Baseline"
                                              : info.param == SimdLevel::kAvx2   ? "Avx2"
                                                                                 : "Avx512");
                         });

}  // namespace
}  // namespace veravox
