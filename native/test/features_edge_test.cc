// SPDX-License-Identifier: Apache-2.0

// Short, silent or broken input, and invalid recipes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "features/feature_extractor.h"
#include "features/mean_spectrum.h"
#include "features/recipe_text.h"
#include "recipe_text_refusal.h"
#include "stage_error.h"

namespace veravox {
namespace {

std::vector<float> Compute(const FeatureRecipe& recipe, const std::vector<float>& samples) {
  FeatureExtractor extractor(recipe);
  std::vector<float> output(extractor.OutputSize(samples.size()), -1234.5f);
  extractor.Compute(samples, output);
  return output;
}

std::vector<float> Ramp(size_t samples) {
  std::vector<float> ramp(samples);
  for (size_t i = 0; i < samples; ++i) ramp[i] = 0.001f * static_cast<float>((i * 37) % 501) - 0.25f;
  return ramp;
}

TEST(FeaturesEdge, RefusesRecipesNamingTheField) {
  const struct {
    const char* field;
    std::function<void(FeatureRecipe&)> spoil;
  } spoilt[] = {
      {"sample_rate_hz", [](FeatureRecipe& r) { r.sample_rate_hz = 0; }},
      {"fft_size", [](FeatureRecipe& r) { r.fft_size = 0; }},
      {"fft_size", [](FeatureRecipe& r) { r.fft_size = 513; }},
      {"fft_size", [](FeatureRecipe& r) { r.fft_size = 1 << 20; }},
      {"window_length", [](FeatureRecipe& r) { r.window_length = 513; }},
      {"window_length", [](FeatureRecipe& r) { r.window_length = 0; }},
      {"hop_length", [](FeatureRecipe& r) { r.hop_length = 0; }},
      {"hop_length", [](FeatureRecipe& r) { r.hop_length = -160; }},
      {"pre_emphasis", [](FeatureRecipe& r) { r.pre_emphasis = NAN; }},
      {"input_gain", [](FeatureRecipe& r) { r.input_gain = INFINITY; }},
      {"input_gain", [](FeatureRecipe& r) { r.input_gain = 0.0f; }},
      {"bands", [](FeatureRecipe& r) { r.bands = 0; }},
      {"bands",
       [](FeatureRecipe& r) {
         r.scale = FeatureRecipe::Scale::kLinear;
         r.bands = 257;
         r.first_bin = 1;
       }},
      {"first_bin",
       [](FeatureRecipe& r) {
         r.scale = FeatureRecipe::Scale::kLinear;
         r.first_bin = -1;
       }},
      {"fmin_hz", [](FeatureRecipe& r) { r.fmin_hz = -1.0f; }},
      {"fmin_hz", [](FeatureRecipe& r) { r.fmin_hz = NAN; }},
      {"fmax_hz", [](FeatureRecipe& r) { r.fmax_hz = 8001.0f; }},
      {"fmax_hz", [](FeatureRecipe& r) { r.fmax_hz = r.fmin_hz; }},
      {"power", [](FeatureRecipe& r) { r.power = 3.0f; }},
      {"log_floor", [](FeatureRecipe& r) { r.log_floor = 0.0f; }},
      {"log_floor", [](FeatureRecipe& r) { r.log_floor = NAN; }},
      {"mean_spectrum_fft_sizes", [](FeatureRecipe& r) { r.mean_spectrum_fft_sizes = {0}; }},
      {"mean_spectrum_fft_sizes", [](FeatureRecipe& r) { r.mean_spectrum_fft_sizes = {60}; }},
      {"mean_spectrum_fft_sizes",
       [](FeatureRecipe& r) {
         r.mean_spectrum_fft_sizes = {4096, 66};
       }},
      {"mean_spectrum_fft_sizes", [](FeatureRecipe& r) { r.mean_spectrum_fft_sizes = {16384}; }},
      {"mean_spectrum_fft_sizes", [](FeatureRecipe& r) { r.mean_spectrum_fft_sizes.assign(5, 4096); }},
      {"mean_spectrum_fft_sizes",
       [](FeatureRecipe& r) {
         r.kind = FeatureRecipe::Kind::kWaveform;
         r.mean_spectrum_fft_sizes = {4096};
       }},
      {"phase_coherence_fft_sizes", [](FeatureRecipe& r) { r.phase_coherence_fft_sizes = {0}; }},
      {"phase_coherence_fft_sizes", [](FeatureRecipe& r) { r.phase_coherence_fft_sizes = {4}; }},
      {"phase_coherence_fft_sizes",
       [](FeatureRecipe& r) {
         r.phase_coherence_fft_sizes = {512, 66};
       }},
      {"phase_coherence_fft_sizes", [](FeatureRecipe& r) { r.phase_coherence_fft_sizes = {16384}; }},
      {"phase_coherence_fft_sizes", [](FeatureRecipe& r) { r.phase_coherence_fft_sizes.assign(5, 512); }},
      {"phase_coherence_fft_sizes",
       [](FeatureRecipe& r) {
         r.kind = FeatureRecipe::Kind::kWaveform;
         r.phase_coherence_fft_sizes = {512};
       }},
      {"pre_emphasis",
       [](FeatureRecipe& r) {
         r.kind = FeatureRecipe::Kind::kWaveform;
         r.pre_emphasis = 0.97f;
       }},
      {"remove_dc_offset",
       [](FeatureRecipe& r) {
         r.kind = FeatureRecipe::Kind::kWaveform;
         r.remove_dc_offset = true;
       }},
  };
  for (const auto& [field, spoil] : spoilt) {
    FeatureRecipe recipe;
    spoil(recipe);
    try {
      FeatureExtractor extractor(recipe);
      ADD_FAILURE() << field << " was accepted";
    } catch (const StageError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInternal);
      EXPECT_NE(std::string(error.what()).find(std::string(field) + " must be "), std::string::npos)
          << error.what();
    }
  }
}

TEST(FeaturesEdge, RefusesRecipeTextNamingTheField) {
  ExpectRefusalNamingTheField(
      ParseRecipe,
      {"bands=many", "bands=80.5", "bands=", "bands=99999999999", "power=2x", "centred=yes", "window=kaiser",
       "surprise=1", "hop_length", "=5", "phase_coherence_fft_sizes=512,", "phase_coherence_fft_sizes=,512",
       "phase_coherence_fft_sizes=512,,1024", "phase_coherence_fft_sizes=512 1024"});
}

TEST(FeaturesEdge, ReadsEveryFieldOfARecipeText) {
  const FeatureRecipe recipe = ParseRecipe(
      "kind=waveform\nsample_rate_hz=8000\n\nfft_size=256\nwindow_length=200\nhop_length=80\nwindow=povey\n"
      "periodic_window=true\ncentred=true\npre_emphasis=0.5\nremove_dc_offset=true\ninput_gain=2\nscale="
      "linear\n"
      "bands=7\nfirst_bin=3\nfmin_hz=10.5\nfmax_hz=3000\nmel_formula=slaney\nmel_norm=slaney\n"
      "triangles_on_mel_axis=true\npower=1\nlog=decibel\nlog_floor=1e-5\nnormalisation=mean_variance\n"
      "dynamic_range_db=70\nnormalise_globally=true\nlayout=frames_bands\nmean_spectrum_fft_sizes=4096,1024\n"
      "phase_coherence_fft_sizes=512,1024");
  EXPECT_EQ(recipe.kind, FeatureRecipe::Kind::kWaveform);
  EXPECT_EQ(recipe.sample_rate_hz, 8000);
  EXPECT_EQ(recipe.fft_size, 256);
  EXPECT_EQ(recipe.window_length, 200);
  EXPECT_EQ(recipe.hop_length, 80);
  EXPECT_EQ(recipe.window, FeatureRecipe::Window::kPovey);
  EXPECT_TRUE(recipe.periodic_window);
  EXPECT_TRUE(recipe.centred);
  EXPECT_EQ(recipe.pre_emphasis, 0.5f);
  EXPECT_TRUE(recipe.remove_dc_offset);
  EXPECT_EQ(recipe.input_gain, 2.0f);
  EXPECT_EQ(recipe.scale, FeatureRecipe::Scale::kLinear);
  EXPECT_EQ(recipe.bands, 7);
  EXPECT_EQ(recipe.first_bin, 3);
  EXPECT_EQ(recipe.fmin_hz, 10.5f);
  EXPECT_EQ(recipe.fmax_hz, 3000.0f);
  EXPECT_EQ(recipe.mel_formula, FeatureRecipe::MelFormula::kSlaney);
  EXPECT_EQ(recipe.mel_norm, FeatureRecipe::MelNorm::kSlaney);
  EXPECT_TRUE(recipe.triangles_on_mel_axis);
  EXPECT_EQ(recipe.power, 1.0f);
  EXPECT_EQ(recipe.log, FeatureRecipe::Log::kDecibel);
  EXPECT_EQ(recipe.log_floor, 1e-5f);
  EXPECT_EQ(recipe.normalisation, FeatureRecipe::Normalisation::kMeanVariance);
  EXPECT_EQ(recipe.dynamic_range_db, 70.0f);
  EXPECT_TRUE(recipe.normalise_globally);
  EXPECT_EQ(recipe.layout, FeatureRecipe::Layout::kFramesBands);
  EXPECT_EQ(recipe.mean_spectrum_fft_sizes, std::vector<int>({4096, 1024}));
  EXPECT_EQ(recipe.phase_coherence_fft_sizes, std::vector<int>({512, 1024}));
  EXPECT_TRUE(ParseRecipe("phase_coherence_fft_sizes=").phase_coherence_fft_sizes.empty());
}

TEST(FeaturesEdge, RefusesOutputOfTheWrongSize) {
  FeatureExtractor extractor(FeatureRecipe{});
  const std::vector<float> samples(1600);
  std::vector<float> output(extractor.OutputSize(samples.size()) + 1);
  EXPECT_THROW(extractor.Compute(samples, output), StageError);
}

TEST(FeaturesEdge, CountsOnlyWholeFrames) {
  const FeatureExtractor extractor(FeatureRecipe{});
  EXPECT_EQ(extractor.FrameCount(0), 0u);
  EXPECT_EQ(extractor.FrameCount(399), 0u);
  EXPECT_EQ(extractor.FrameCount(400), 1u);
  EXPECT_EQ(extractor.FrameCount(559), 1u);
  EXPECT_EQ(extractor.FrameCount(560), 2u);
  EXPECT_EQ(extractor.FrameCount(80000), 498u);
  EXPECT_EQ(extractor.OutputSize(80000), 498u * 80u);
}

TEST(FeaturesEdge, CountsAFramePerHopWhenCentred) {
  FeatureRecipe recipe;
  recipe.centred = true;
  const FeatureExtractor extractor(recipe);
  EXPECT_EQ(extractor.FrameCount(0), 0u);
  EXPECT_EQ(extractor.FrameCount(1), 1u);
  EXPECT_EQ(extractor.FrameCount(159), 1u);
  EXPECT_EQ(extractor.FrameCount(160), 2u);
}

TEST(FeaturesEdge, GivesNothingForTooFewSamples) {
  EXPECT_TRUE(Compute(FeatureRecipe{}, {}).empty());
  EXPECT_TRUE(Compute(FeatureRecipe{}, Ramp(399)).empty());
  FeatureRecipe waveform;
  waveform.kind = FeatureRecipe::Kind::kWaveform;
  waveform.normalisation = FeatureRecipe::Normalisation::kMeanVariance;
  EXPECT_TRUE(Compute(waveform, {}).empty());
}

TEST(FeaturesEdge, MirrorsASingleSample) {
  FeatureRecipe recipe;
  recipe.centred = true;
  const std::vector<float> one = Compute(recipe, {0.5f});
  const std::vector<float> constant = Compute(recipe, std::vector<float>(1000, 0.5f));
  for (size_t band = 0; band < 80; ++band) EXPECT_FLOAT_EQ(one[band], constant[band * constant.size() / 80]);
}

TEST(FeaturesEdge, GivesTheLogFloorForSilence) {
  FeatureRecipe recipe;
  recipe.log_floor = 1e-6f;
  for (const float value : Compute(recipe, std::vector<float>(4000, 0.0f))) {
    EXPECT_FLOAT_EQ(value, std::log(1e-6f));
  }
}

TEST(FeaturesEdge, NormalisesSilenceToZero) {
  FeatureRecipe recipe;
  recipe.normalisation = FeatureRecipe::Normalisation::kMeanVariance;
  for (const float value : Compute(recipe, std::vector<float>(4000, 0.0f))) EXPECT_NEAR(value, 0.0f, 1e-3f);
}

TEST(FeaturesEdge, RefusesADynamicRangeThatWouldNotApply) {
  for (const std::string_view text :
       {"dynamic_range_db=-1", "dynamic_range_db=inf", "kind=waveform\ndynamic_range_db=60",
        "dynamic_range_db=60\nlog=none", "dynamic_range_db=60\nnormalisation=mean"}) {
    EXPECT_THROW(FeatureExtractor{ParseRecipe(text)}, StageError) << text;
  }
}

FeatureRecipe WithMeanSpectrum(int fft_size) {
  FeatureRecipe recipe;
  recipe.mean_spectrum_fft_sizes = {fft_size};
  return recipe;
}

// The mean spectrum alone, without bands.
std::vector<float> MeanSpectrumOf(const std::vector<float>& samples, int fft_size) {
  const std::vector<float> all = Compute(WithMeanSpectrum(fft_size), samples);
  return {all.end() - static_cast<std::ptrdiff_t>(MeanSpectrum::kCurves) * fft_size / 2, all.end()};
}

TEST(FeaturesEdge, AMeanSpectrumFollowsTheBandsAndLeavesThemAlone) {
  const std::vector<float> all = Compute(WithMeanSpectrum(4096), Ramp(80000));
  const std::vector<float> bands = Compute(FeatureRecipe{}, Ramp(80000));
  ASSERT_EQ(all.size(), bands.size() + 12 * 2048);
  EXPECT_TRUE(std::equal(bands.begin(), bands.end(), all.begin()));
}

TEST(FeaturesEdge, AMeanSpectrumOfTooFewSamplesIsNothing) {
  EXPECT_TRUE(Compute(WithMeanSpectrum(4096), Ramp(399)).empty());
}

TEST(FeaturesEdge, AMeanSpectrumShowsAFaintToneAndNotTheLevel) {
  std::vector<float> samples(80000);
  uint32_t noise = 1;
  for (size_t i = 0; i < samples.size(); ++i) {
    noise = noise * 1664525u + 1013904223u;
    samples[i] = 1e-9f * static_cast<float>(noise >> 8) +                           // up to 0.017
                 1e-3f * std::sin(0.5f * 3.14159265f * static_cast<float>(i % 4));  // 4 kHz: bin 1024
  }
  const std::vector<float> curves = MeanSpectrumOf(samples, 4096);
  for (const size_t curve : {0, 1}) {
    const auto first = curves.begin() + static_cast<std::ptrdiff_t>(curve * 2048);
    EXPECT_EQ(std::max_element(first + 100, first + 2048) - first, 1024) << curve;
  }
  for (float& sample : samples) sample *= 8.0f;
  const std::vector<float> louder = MeanSpectrumOf(samples, 4096);
  for (size_t i = 0; i < curves.size(); ++i) EXPECT_NEAR(louder[i], curves[i], 1e-3f) << i;
}

TEST(FeaturesEdge, AMeanSpectrumOfSilenceIsFlat) {
  for (const float value : MeanSpectrumOf(std::vector<float>(80000, 0.0f), 4096)) EXPECT_EQ(value, 0.0f);
}

// A single frame is mean, decile, third and second largest at once, with no deviation.
TEST(FeaturesEdge, AMeanSpectrumOfOneFrameIsThatFrame) {
  const size_t bins = 2048;
  const std::vector<float> curves = MeanSpectrumOf(Ramp(4096), 4096);
  for (size_t bin = 0; bin < bins; ++bin) {
    const auto value = [&](size_t curve) { return curves[(curve - 1) * bins + bin]; };
    for (const size_t curve : {2, 3, 5, 6, 7}) EXPECT_EQ(value(curve), value(1)) << bin;
    for (const size_t curve : {4, 8, 9}) EXPECT_EQ(value(curve), 0.0f) << bin;
    for (const size_t curve : {10, 11}) EXPECT_TRUE(value(curve) == 0.0f || value(curve) == 1.0f) << bin;
    EXPECT_TRUE(std::isfinite(value(1)) && std::isfinite(value(12))) << bin;
  }
}

// A constant tone is larger than its neighbours in every frame.
TEST(FeaturesEdge, AMeanSpectrumCountsPeaksButNotAtItsEnds) {
  const size_t bins = 512;
  for (const size_t tone : {2, 3, 31, 32, 508, 509}) {
    std::vector<float> samples = Ramp(20000);
    for (size_t i = 0; i < samples.size(); ++i) {
      const auto step = static_cast<float>(i * tone % 1024);
      samples[i] = 1e-4f * samples[i] + std::cos(2.0f * 3.14159265f * step / 1024.0f);
    }
    const std::vector<float> curves = MeanSpectrumOf(samples, 1024);
    const bool has_neighbours = tone >= 3 && tone < bins - 3;
    EXPECT_EQ(curves[9 * bins + tone], has_neighbours ? 1.0f : 0.0f) << tone;
    EXPECT_EQ(curves[10 * bins + tone], 0.0f) << tone;
    EXPECT_EQ(curves.back(), 0.0f);
  }
}

TEST(FeaturesEdge, AMeanSpectrumOfBrokenSamplesIsNotANumber) {
  for (const float broken :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> samples = Ramp(80000);
    samples[40000] = broken;
    for (const float value : MeanSpectrumOf(samples, 4096)) EXPECT_TRUE(std::isnan(value));
  }
}

// After a broken window, a shorter one gives the same as alone.
void ExpectNoTraceOfABrokenWindow(const FeatureRecipe& recipe) {
  FeatureExtractor extractor(recipe);
  std::vector<float> broken = Ramp(20000);
  std::fill(broken.begin() + 5000, broken.end(), std::numeric_limits<float>::quiet_NaN());
  std::vector<float> output(extractor.OutputSize(broken.size()));
  extractor.Compute(broken, output);
  output.resize(extractor.OutputSize(5000));
  extractor.Compute(Ramp(5000), output);
  EXPECT_EQ(output, Compute(recipe, Ramp(5000)));
}

TEST(FeaturesEdge, ABrokenWindowLeavesNoTraceInTheNextMeanSpectrum) {
  ExpectNoTraceOfABrokenWindow(WithMeanSpectrum(1000));  // its bins do not fill whole blocks
}

// The smallest transform has the fewest bins that a running median needs.
TEST(FeaturesEdge, MeanSpectraOfAllSizesAreFinite) {
  for (const int fft_size : {64, 68, 1000, 8192}) {
    for (const size_t samples : {400, 8192, 20000}) {
      const std::vector<float> curves = MeanSpectrumOf(Ramp(samples), fft_size);
      EXPECT_TRUE(std::all_of(curves.begin(), curves.end(), [](float value) { return std::isfinite(value); }))
          << fft_size << " of " << samples;
    }
  }
}

// A phase coherence alone: real and imaginary parts of five means.
std::vector<float> PhaseCoherenceOf(const std::vector<float>& samples, int fft_size) {
  FeatureRecipe recipe;
  recipe.phase_coherence_fft_sizes = {fft_size};
  const std::vector<float> all = Compute(recipe, samples);
  return {all.end() - 5 * fft_size, all.end()};
}

TEST(FeaturesEdge, PhaseCoherencesComeAfterTheMeanSpectra) {
  FeatureRecipe recipe = WithMeanSpectrum(4096);
  std::vector<float> expected = Compute(recipe, Ramp(80000));
  const std::vector<float> other = MeanSpectrumOf(Ramp(80000), 1024);
  expected.insert(expected.end(), other.begin(), other.end());
  recipe.mean_spectrum_fft_sizes = {4096, 1024};
  recipe.phase_coherence_fft_sizes = {1024, 512};
  const std::vector<float> all = Compute(recipe, Ramp(80000));
  for (const int fft_size : {1024, 512}) {
    const std::vector<float> alone = PhaseCoherenceOf(Ramp(80000), fft_size);
    expected.insert(expected.end(), alone.begin(), alone.end());
  }
  EXPECT_EQ(all, expected);
}

TEST(FeaturesEdge, PhaseCoherenceIsThatOfASteadyToneAndNotOfItsLevel) {
  std::vector<float> samples(80000);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = 0.1f * std::sin(0.5f * 3.14159265f * static_cast<float>(i % 4));  // 4 kHz: bin 128
  }
  const std::vector<float> curves = PhaseCoherenceOf(samples, 512);
  for (const size_t curve : {0, 2, 6}) EXPECT_NEAR(curves[curve * 256 + 128], 1.0f, 3e-4f) << curve;
  for (float& sample : samples) sample *= 8.0f;
  const std::vector<float> louder = PhaseCoherenceOf(samples, 512);
  for (const size_t curve : {0, 1, 2, 3, 4, 5, 6, 7}) {
    EXPECT_NEAR(louder[curve * 256 + 128], curves[curve * 256 + 128], 1e-3f) << curve;
  }
}

// Only rounding sounds in a band that a codec left empty: with other samples of it, the phases must not be
// others.
TEST(FeaturesEdge, RoundingTo16BitsLeavesThePhasesAlone) {
  FeatureRecipe recipe;
  recipe.audible_only = true;
  recipe.phase_coherence_fft_sizes = {1024};
  std::vector<float> samples(80000), rounded(80000);
  for (size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / 16000.0;
    for (int harmonic = 1; harmonic <= 15; ++harmonic) {
      samples[i] += static_cast<float>(0.02 * std::sin(6.2831853 * harmonic * (200.0 * t + 20.0 * t * t)));
    }
    rounded[i] = std::round(samples[i] * 32768.0f) / 32768.0f;
  }
  const std::vector<float> phases = Compute(recipe, samples), others = Compute(recipe, rounded);
  for (size_t i = phases.size() - 5 * 1024; i < phases.size(); ++i) {
    EXPECT_NEAR(others[i], phases[i], 0.2f) << i;
  }
}

TEST(FeaturesEdge, PhaseCoherenceOfSilenceIsZero) {
  for (const float value : PhaseCoherenceOf(std::vector<float>(80000, 0.0f), 512)) EXPECT_EQ(value, 0.0f);
}

TEST(FeaturesEdge, PhaseCoherenceOfBrokenSamplesIsNotANumber) {
  for (const float broken :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> samples = Ramp(80000);
    samples[40000] = broken;
    for (const float value : PhaseCoherenceOf(samples, 512)) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(FeaturesEdge, ABrokenWindowLeavesNoTraceInTheNextPhaseCoherence) {
  FeatureRecipe recipe;
  recipe.phase_coherence_fft_sizes = {500};
  ExpectNoTraceOfABrokenWindow(recipe);
}

TEST(FeaturesEdge, PhaseCoherenceOfAllSizesIsAtMostOne) {
  for (const int fft_size : {8, 12, 500, 8192}) {
    for (const size_t samples : {400, 8192, 30000}) {
      for (const float value : PhaseCoherenceOf(Ramp(samples), fft_size)) {
        ASSERT_LE(std::abs(value), 1.001f) << fft_size << " of " << samples;
      }
    }
  }
}

// Settings that make a score independent of digital silence around the speech, and of the level.
TEST(FeaturesEdge, WithADynamicRangeSilenceAndLevelLeaveTheSpeechAlone) {
  FeatureRecipe recipe =
      ParseRecipe("dynamic_range_db=60\nnormalisation=mean_variance\nnormalise_globally=true");
  recipe.layout = FeatureRecipe::Layout::kFramesBands;
  std::vector<float> speech = Ramp(8000);
  for (size_t i = 0; i < speech.size(); ++i)
    speech[i] *= 0.5f + 0.5f * std::sin(0.01f * static_cast<float>(i));
  std::vector<float> padded(4000 + speech.size());
  for (size_t i = 0; i < speech.size(); ++i) padded[4000 + i] = speech[i] * 0.03125f;
  const std::vector<float> alone = Compute(recipe, speech);
  const std::vector<float> among = Compute(recipe, padded);
  const size_t silent_frames = 4000 / 160;
  double difference = 0.0;
  for (size_t i = 0; i < alone.size(); ++i) {
    difference += std::abs(alone[i] - among[silent_frames * 80 + i]) / static_cast<double>(alone.size());
  }
  // Two frames hold both silence and speech, which affects the statistics a little.
  EXPECT_LT(difference, 0.02);
  for (size_t i = 1; i < 20 * 80; ++i) EXPECT_EQ(among[i], among[0]);
}

TEST(FeaturesEdge, NonFiniteSamplesSpoilTheirFramesOnly) {
  for (const float broken : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity()}) {
    std::vector<float> samples = Ramp(8000);
    samples[5000] = broken;
    FeatureRecipe recipe;
    recipe.layout = FeatureRecipe::Layout::kFramesBands;
    const std::vector<float> output = Compute(recipe, samples);
    const std::vector<float> sound = Compute(recipe, Ramp(8000));
    for (size_t i = 0; i < output.size(); ++i) {
      const size_t start = i / 80 * 160;
      if (start <= 5000 && 5000 < start + 400) {
        EXPECT_TRUE(std::isnan(output[i])) << i;
      } else {
        EXPECT_EQ(output[i], sound[i]) << i;
      }
    }
  }
}

TEST(FeaturesEdge, SurvivesSamplesThatOverflow) {
  FeatureRecipe recipe;
  recipe.normalisation = FeatureRecipe::Normalisation::kMeanVariance;
  const std::vector<float> output = Compute(recipe, std::vector<float>(2000, 3e38f));
  EXPECT_EQ(output.size(), FeatureExtractor(recipe).OutputSize(2000));
}

// Windows are brought to the level of most recordings, which must also work for near silence.
TEST(FeaturesEdge, WhatIsTooFaintForAnyConverterIsSilence) {
  FeatureRecipe recipe;
  recipe.audible_only = true;
  recipe.phase_coherence_fft_sizes = {1024};
  std::vector<float> samples = Ramp(8000);
  const auto scaled = [&](float factor) {
    std::vector<float> faint = samples;
    for (float& sample : faint) sample *= factor;
    return Compute(recipe, faint);
  };
  const std::vector<float> silent = scaled(0.0f);
  for (const float factor :
       {1e-44f, 1e-42f, 1e-38f, 1e-30f, 1e-20f, 1e-12f, 1e-9f, 1e-6f, 1.0f, 1e20f, 1e38f}) {
    const std::vector<float> output = scaled(factor);
    EXPECT_TRUE(std::ranges::all_of(output, [](float value) { return std::isfinite(value); })) << factor;
    if (factor < 1e-20f) EXPECT_EQ(output[0], silent[0]) << factor;
  }
}

// A frame's numbers must not depend on which frames share its registers.
TEST(FeaturesEdge, FramesDoNotInfluenceEachOther) {
  FeatureRecipe recipe;
  recipe.layout = FeatureRecipe::Layout::kFramesBands;
  recipe.remove_dc_offset = true;
  recipe.pre_emphasis = 0.97f;
  const std::vector<float> samples = Ramp(400 + 40 * 160);
  const std::vector<float> together = Compute(recipe, samples);
  for (size_t frame = 0; frame < 41; ++frame) {
    const auto start = samples.begin() + static_cast<std::ptrdiff_t>(frame * 160);
    const std::vector<float> alone = Compute(recipe, {start, start + 400});
    ASSERT_EQ(alone.size(), 80u);
    for (size_t band = 0; band < 80; ++band) EXPECT_EQ(alone[band], together[frame * 80 + band]);
  }
}

TEST(FeaturesEdge, LayoutsHoldTheSameNumbers) {
  FeatureRecipe recipe;
  recipe.bands = 23;
  const std::vector<float> band_major = Compute(recipe, Ramp(5000));
  recipe.layout = FeatureRecipe::Layout::kFramesBands;
  const std::vector<float> frame_major = Compute(recipe, Ramp(5000));
  const size_t frames = band_major.size() / 23;
  for (size_t frame = 0; frame < frames; ++frame) {
    for (size_t band = 0; band < 23; ++band) {
      EXPECT_EQ(band_major[band * frames + frame], frame_major[frame * 23 + band]);
    }
  }
}

// Triangles narrower than the spacing of the bins catch no bin; they must not read outside of the spectrum.
TEST(FeaturesEdge, BandsWithoutABinGiveTheLogFloor) {
  FeatureRecipe recipe;
  recipe.bands = 4096;
  const std::vector<float> output = Compute(recipe, Ramp(400));
  EXPECT_FLOAT_EQ(output[0], std::log(recipe.log_floor));
}

}  // namespace
}  // namespace veravox
