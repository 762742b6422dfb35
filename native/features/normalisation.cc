// SPDX-License-Identifier: Apache-2.0
#include "features/normalisation.h"

#include <algorithm>
#include <cmath>

namespace veravox {
namespace {

using Normalisation = FeatureRecipe::Normalisation;

// Keeps silence, whose variance is 0, from becoming infinite.
constexpr double kVarianceFloor = 1e-7;

// Sums that run side by side, so that an addition does not wait for the one before it.
constexpr size_t kSums = 8;

double ScaleOf(Normalisation normalisation, double squares, size_t count) {
  if (normalisation == Normalisation::kMean) return 1.0;
  return 1.0 / std::sqrt(squares / static_cast<double>(count) + kVarianceFloor);
}

// Sum of term(value) over all values.
template <typename Term>
double Sum(std::span<const float> values, const Term& term) {
  double sums[kSums] = {};
  size_t i = 0;
  for (; i + kSums <= values.size(); i += kSums) {
    for (size_t s = 0; s < kSums; ++s) sums[s] += term(values[i + s]);
  }
  double sum = 0.0;
  for (; i < values.size(); ++i) sum += term(values[i]);
  for (const double partial : sums) sum += partial;
  return sum;
}

// Up to kSums neighbouring columns of a matrix whose rows are `stride` values apart, each by itself.
void NormaliseColumns(Normalisation normalisation, float* values, size_t columns, size_t rows,
                      size_t stride) {
  double means[kSums] = {};
  double squares[kSums] = {};
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) means[column] += values[row * stride + column];
  }
  for (double& mean : means) mean /= static_cast<double>(rows);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      const double deviation = values[row * stride + column] - means[column];
      squares[column] += deviation * deviation;
    }
  }
  double scales[kSums];
  for (size_t column = 0; column < kSums; ++column) {
    scales[column] = ScaleOf(normalisation, squares[column], rows);
  }
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      float& value = values[row * stride + column];
      value = static_cast<float>((value - means[column]) * scales[column]);
    }
  }
}

}  // namespace

void NormaliseTogether(Normalisation normalisation, std::span<float> values) {
  if (normalisation == Normalisation::kNone || values.empty()) return;
  const double mean = Sum(values, [](float value) { return static_cast<double>(value); }) /
                      static_cast<double>(values.size());
  const double squares = Sum(values, [mean](float value) { return (value - mean) * (value - mean); });
  const double scale = ScaleOf(normalisation, squares, values.size());
  for (float& value : values) value = static_cast<float>((value - mean) * scale);
}

void NormaliseBands(Normalisation normalisation, FeatureRecipe::Layout layout, size_t bands,
                    std::span<float> values) {
  if (normalisation == Normalisation::kNone) return;
  const size_t frames = values.size() / bands;
  if (layout == FeatureRecipe::Layout::kBandsFrames) {
    for (size_t band = 0; band < bands; ++band) {
      NormaliseTogether(normalisation, values.subspan(band * frames, frames));
    }
    return;
  }
  for (size_t band = 0; band < bands; band += kSums) {
    NormaliseColumns(normalisation, values.data() + band, std::min(kSums, bands - band), frames, bands);
  }
}

}  // namespace veravox
