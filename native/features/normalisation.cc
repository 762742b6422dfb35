// SPDX-License-Identifier: Apache-2.0
#include "features/normalisation.h"

#include <cmath>

namespace veravox {
namespace {

using Normalisation = FeatureRecipe::Normalisation;

// Keeps silence, whose variance is 0, from becoming infinite.
constexpr double kVarianceFloor = 1e-7;

void NormaliseStrided(Normalisation normalisation, float* values, size_t count, size_t stride) {
  double sum = 0.0;
  for (size_t i = 0; i < count; ++i) sum += values[i * stride];
  const double mean = sum / static_cast<double>(count);
  double scale = 1.0;
  if (normalisation == Normalisation::kMeanVariance) {
    double squares = 0.0;
    for (size_t i = 0; i < count; ++i) {
      const double deviation = values[i * stride] - mean;
      squares += deviation * deviation;
    }
    scale = 1.0 / std::sqrt(squares / static_cast<double>(count) + kVarianceFloor);
  }
  for (size_t i = 0; i < count; ++i) {
    values[i * stride] = static_cast<float>((values[i * stride] - mean) * scale);
  }
}

}  // namespace

void NormaliseTogether(Normalisation normalisation, std::span<float> values) {
  if (normalisation == Normalisation::kNone) return;
  NormaliseStrided(normalisation, values.data(), values.size(), 1);
}

void NormaliseBands(Normalisation normalisation, FeatureRecipe::Layout layout, size_t bands,
                    std::span<float> values) {
  if (normalisation == Normalisation::kNone) return;
  const size_t frames = values.size() / bands;
  const bool band_by_band = layout == FeatureRecipe::Layout::kBandsFrames;
  for (size_t band = 0; band < bands; ++band) {
    NormaliseStrided(normalisation, values.data() + (band_by_band ? band * frames : band), frames,
                     band_by_band ? 1 : bands);
  }
}

}  // namespace veravox
