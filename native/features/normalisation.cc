// SPDX-License-Identifier: Apache-2.0
#include "features/normalisation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "simd/simd_level.h"

namespace veravox {
namespace {

using Normalisation = FeatureRecipe::Normalisation;

// Keeps silence, whose variance is 0, from becoming infinite.
constexpr double kVarianceFloor = 1e-7;

// Sums that run side by side, so that an addition does not wait for the one before it.
constexpr size_t kSums = 8;

double ScaleOf(Normalisation normalisation, double squares, double count) {
  if (normalisation == Normalisation::kMean) return 1.0;
  return 1.0 / std::sqrt(squares / count + kVarianceFloor);
}

struct Moments {
  double mean;
  double squares;  // sum of the squared deviations from the mean
};

// One pass: both sums are of the differences to the first value, so that little is lost when the mean is
// large beside the deviation.
VERAVOX_INLINE Moments MomentsOf(std::span<const float> values) {
  const double shift = values[0];
  double sums[kSums] = {};
  double squares[kSums] = {};
  size_t i = 0;
  for (; i + kSums <= values.size(); i += kSums) {
    for (size_t s = 0; s < kSums; ++s) {
      const double difference = values[i + s] - shift;
      sums[s] += difference;
      squares[s] += difference * difference;
    }
  }
  double sum = 0.0;
  double square = 0.0;
  for (; i < values.size(); ++i) {
    const double difference = values[i] - shift;
    sum += difference;
    square += difference * difference;
  }
  for (size_t s = 0; s < kSums; ++s) {
    sum += sums[s];
    square += squares[s];
  }
  const double mean = sum / static_cast<double>(values.size());
  return {shift + mean, std::max(0.0, square - sum * mean)};
}

VERAVOX_INLINE void Normalise(Normalisation normalisation, std::span<float> values) {
  const Moments moments = MomentsOf(values);
  const double scale = ScaleOf(normalisation, moments.squares, static_cast<double>(values.size()));
  const auto factor = static_cast<float>(scale);
  const auto mean = static_cast<float>(moments.mean);
  for (float& value : values) value = (value - mean) * factor;
}

// Sums over what lies above `floor` only. `count` becomes how many those are.
VERAVOX_INLINE Moments MomentsAbove(float floor, float shift, std::span<const float> values, double* count) {
  double counts[kSums] = {};
  double sums[kSums] = {};
  double squares[kSums] = {};
  const auto add = [&](size_t s, float value) {
    const double difference = value > floor ? value - shift : 0.0f;
    counts[s] += value > floor ? 1.0 : 0.0;
    sums[s] += difference;
    squares[s] += difference * difference;
  };
  size_t i = 0;
  for (; i + kSums <= values.size(); i += kSums) {
    for (size_t s = 0; s < kSums; ++s) add(s, values[i + s]);
  }
  for (; i < values.size(); ++i) add(0, values[i]);
  *count = std::accumulate(counts, counts + kSums, 0.0);
  const double sum = std::accumulate(sums, sums + kSums, 0.0);
  const double mean = sum / *count;
  return {shift + mean, std::max(0.0, std::accumulate(squares, squares + kSums, 0.0) - sum * mean)};
}

VERAVOX_INLINE float LargestOf(std::span<const float> values) {
  float largest[kSums];
  std::fill(largest, largest + kSums, values[0]);
  size_t i = 0;
  for (; i + kSums <= values.size(); i += kSums) {
    for (size_t s = 0; s < kSums; ++s) largest[s] = std::max(largest[s], values[i + s]);
  }
  for (; i < values.size(); ++i) largest[0] = std::max(largest[0], values[i]);
  return *std::max_element(largest, largest + kSums);
}

VERAVOX_INLINE void WithinRange(Normalisation normalisation, float range, std::span<float> values) {
  const float largest = LargestOf(values);
  const float floor = largest - range;
  float mean = 0.0f;
  float factor = 1.0f;
  if (normalisation != Normalisation::kNone) {
    double count = 0.0;
    // The largest value is above the floor, so that there is always something to count.
    const Moments moments = MomentsAbove(floor, largest, values, &count);
    mean = static_cast<float>(moments.mean);
    factor = static_cast<float>(ScaleOf(normalisation, moments.squares, count));
  }
  for (float& value : values) value = (std::max(value, floor) - mean) * factor;
}

void WithinRangeBaseline(Normalisation normalisation, float range, std::span<float> values) {
  WithinRange(normalisation, range, values);
}

VERAVOX_TARGET_AVX2 void WithinRangeAvx2(Normalisation normalisation, float range, std::span<float> values) {
  WithinRange(normalisation, range, values);
}

void NormaliseBaseline(Normalisation normalisation, std::span<float> values) {
  Normalise(normalisation, values);
}

VERAVOX_TARGET_AVX2 void NormaliseAvx2(Normalisation normalisation, std::span<float> values) {
  Normalise(normalisation, values);
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
    scales[column] = ScaleOf(normalisation, squares[column], static_cast<double>(rows));
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
  static const auto normalise = BestSimdLevel() == SimdLevel::kBaseline ? NormaliseBaseline : NormaliseAvx2;
  normalise(normalisation, values);
}

void NormaliseWithinRange(Normalisation normalisation, float range, std::span<float> values) {
  if (values.empty()) return;
  static const auto within = BestSimdLevel() == SimdLevel::kBaseline ? WithinRangeBaseline : WithinRangeAvx2;
  within(normalisation, range, values);
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
