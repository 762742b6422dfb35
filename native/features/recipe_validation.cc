// SPDX-License-Identifier: Apache-2.0
#include "features/recipe_validation.h"

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "stage_error.h"

namespace veravox {
namespace {

// Bounds the tables that an operator's manifest can make the server build.
constexpr int kMaxSampleRateHz = 384000;
constexpr int kMaxFftSize = 65536;
constexpr int kMaxBands = 4096;
constexpr int kMinMeanSpectrumFftSize = 64;  // its bins are the fewest that the running median takes
constexpr int kMinPhaseCoherenceFftSize = 8;
constexpr size_t kMaxFollowing = 4;  // most mean spectra, and most phase coherences

template <typename Value>
void Require(bool condition, const char* field, Value value, const std::string& expectation) {
  if (condition) return;
  std::ostringstream sentence;
  sentence << "Feature recipe: " << field << " must be " << expectation << " but is " << value << ".";
  throw StageError(ErrorCode::kInternal, sentence.str());
}

void RequireBetween(int value, int lowest, int highest, const char* field) {
  Require(value >= lowest && value <= highest, field, value,
          "between " + std::to_string(lowest) + " and " + std::to_string(highest));
}

// A waveform model would silently ignore these fields.
void ValidateWaveform(const FeatureRecipe& recipe) {
  Require(recipe.pre_emphasis == 0.0f, "pre_emphasis", recipe.pre_emphasis, "0 for a waveform");
  Require(!recipe.remove_dc_offset, "remove_dc_offset", recipe.remove_dc_offset, "false for a waveform");
  Require(recipe.dynamic_range_db == 0.0f, "dynamic_range_db", recipe.dynamic_range_db, "0 for a waveform");
  Require(recipe.mean_spectrum_fft_sizes.empty(), "mean_spectrum_fft_sizes", "not empty",
          "empty for a waveform");
  Require(recipe.phase_coherence_fft_sizes.empty(), "phase_coherence_fft_sizes", "not empty",
          "empty for a waveform");
}

void ValidateFrames(const FeatureRecipe& recipe) {
  RequireBetween(recipe.fft_size, 2, kMaxFftSize, "fft_size");
  Require(recipe.fft_size % 2 == 0, "fft_size", recipe.fft_size, "even");
  RequireBetween(recipe.window_length, 1, recipe.fft_size, "window_length");
  RequireBetween(recipe.hop_length, 1, std::numeric_limits<int>::max(), "hop_length");
  Require(std::isfinite(recipe.pre_emphasis), "pre_emphasis", recipe.pre_emphasis, "finite");
}

void ValidateBands(const FeatureRecipe& recipe) {
  RequireBetween(recipe.bands, 1, kMaxBands, "bands");
  if (recipe.scale == FeatureRecipe::Scale::kLinear) {
    const int bins = recipe.fft_size / 2 + 1;
    RequireBetween(recipe.first_bin, 0, bins - 1, "first_bin");
    Require(recipe.bands <= bins - recipe.first_bin, "bands", recipe.bands,
            "at most " + std::to_string(bins - recipe.first_bin) + " from this first_bin on");
    return;
  }
  const float nyquist_hz = 0.5f * static_cast<float>(recipe.sample_rate_hz);
  Require(recipe.fmin_hz >= 0.0f && recipe.fmin_hz < nyquist_hz, "fmin_hz", recipe.fmin_hz,
          "at least 0 and less than half the sample rate");
  Require(recipe.fmax_hz > recipe.fmin_hz && recipe.fmax_hz <= nyquist_hz, "fmax_hz", recipe.fmax_hz,
          "greater than fmin_hz and at most half the sample rate");
}

void ValidateDynamicRange(const FeatureRecipe& recipe) {
  Require(std::isfinite(recipe.dynamic_range_db) && recipe.dynamic_range_db >= 0.0f, "dynamic_range_db",
          recipe.dynamic_range_db, "finite and at least 0");
  if (recipe.dynamic_range_db == 0.0f) return;
  Require(recipe.log != FeatureRecipe::Log::kNone, "dynamic_range_db", recipe.dynamic_range_db,
          "0 without a logarithm");
  Require(recipe.normalise_globally || recipe.normalisation == FeatureRecipe::Normalisation::kNone,
          "dynamic_range_db", recipe.dynamic_range_db, "0 where each band is normalised by itself");
}

// The curves after the bands use frames a quarter of the FFT apart.
void ValidateFollowing(const std::vector<int>& fft_sizes, int least, const char* field) {
  Require(fft_sizes.size() <= kMaxFollowing, field, fft_sizes.size(),
          "at most " + std::to_string(kMaxFollowing) + " sizes");
  for (const int fft_size : fft_sizes) {
    RequireBetween(fft_size, least, 2 * kMaxBands, field);
    Require(fft_size % 4 == 0, field, fft_size, "a multiple of 4");
  }
}

}  // namespace

void ValidateRecipe(const FeatureRecipe& recipe) {
  RequireBetween(recipe.sample_rate_hz, 1, kMaxSampleRateHz, "sample_rate_hz");
  Require(std::isfinite(recipe.input_gain) && recipe.input_gain != 0.0f, "input_gain", recipe.input_gain,
          "finite and not 0");
  if (recipe.kind == FeatureRecipe::Kind::kWaveform) {
    ValidateWaveform(recipe);
    return;
  }
  ValidateFrames(recipe);
  ValidateBands(recipe);
  Require(recipe.power == 1.0f || recipe.power == 2.0f, "power", recipe.power, "1 or 2");
  ValidateDynamicRange(recipe);
  ValidateFollowing(recipe.mean_spectrum_fft_sizes, kMinMeanSpectrumFftSize, "mean_spectrum_fft_sizes");
  ValidateFollowing(recipe.phase_coherence_fft_sizes, kMinPhaseCoherenceFftSize, "phase_coherence_fft_sizes");
  // The logarithm works on normal numbers only.
  Require(recipe.log == FeatureRecipe::Log::kNone ||
              (std::isfinite(recipe.log_floor) && recipe.log_floor >= std::numeric_limits<float>::min()),
          "log_floor", recipe.log_floor, "at least 1.18e-38");
}

}  // namespace veravox
