// SPDX-License-Identifier: Apache-2.0
#include "features/normalisation.h"

#include <algorithm>
#include <cmath>

#include "simd/lanes.h"

namespace veravox {
namespace {

using Normalisation = FeatureRecipe::Normalisation;

// Keeps silence, whose variance is 0, from becoming infinite.
constexpr double kVarianceFloor = 1e-7;

// Parallel sums, so that additions do not wait for each other.
constexpr size_t kSums = 8;

double ScaleOf(Normalisation normalisation, double squares, double count) {
  if (normalisation == Normalisation::kMean) return 1.0;
  return 1.0 / std::sqrt(squares / count + kVarianceFloor);
}

struct Moments {
  double mean;
  double squares;  // sum of the squared deviations from the mean
};

// One pass: both sums are of the differences to the first value, so that little precision is lost if the mean
// is large compared with the deviation.
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

// Four floats and the same as doubles: as many as fit in AVX2.
using Floats = LaneTypes<4>::Float;
typedef double Doubles __attribute__((vector_size(32)));

// Sums the values above `floor`. The compiler does not vectorise this by itself.
struct SumsAbove {
  float floor;
  float shift;
  LaneTypes<4>::Int counts[kSums / 4] = {};
  Doubles sums[kSums / 4] = {};
  Doubles squares[kSums / 4] = {};

  VERAVOX_INLINE void Add(const float* values) {  // kSums of them
    for (size_t half = 0; half < kSums / 4; ++half) {
      const Floats four = LoadLanes<4>(values + 4 * half);
      const auto is_above = four > floor;
      const Doubles differences = __builtin_convertvector(is_above ? four - shift : Floats{}, Doubles);
      counts[half] -= is_above;  // true is -1
      sums[half] += differences;
      squares[half] += differences * differences;
    }
  }
};

// `count` becomes the number of values above the floor.
VERAVOX_INLINE Moments MomentsAbove(float floor, float shift, std::span<const float> values, double* count) {
  SumsAbove above{floor, shift};
  size_t i = 0;
  for (; i + kSums <= values.size(); i += kSums) above.Add(&values[i]);
  if (i < values.size()) {
    float rest[kSums];
    std::fill(rest, rest + kSums, floor);
    std::copy(values.begin() + i, values.end(), rest);
    above.Add(rest);
  }
  double sum = 0.0;
  double square = 0.0;
  *count = 0.0;
  for (size_t lane = 0; lane < kSums; ++lane) {
    *count += above.counts[lane / 4][lane % 4];
    sum += above.sums[lane / 4][lane % 4];
    square += above.squares[lane / 4][lane % 4];
  }
  const double mean = sum / *count;
  return {shift + mean, std::max(0.0, square - sum * mean)};
}

VERAVOX_INLINE float LargestOf(std::span<const float> values) {
  Floats largest[kSums / 4];
  std::fill(largest, largest + kSums / 4, Floats{} + values[0]);
  float rest = values[0];
  size_t i = 0;
  for (; i + kSums <= values.size(); i += kSums) {
    for (size_t half = 0; half < kSums / 4; ++half) {
      const Floats four = LoadLanes<4>(&values[i + 4 * half]);
      largest[half] = four > largest[half] ? four : largest[half];
    }
  }
  for (; i < values.size(); ++i) rest = std::max(rest, values[i]);
  for (size_t lane = 0; lane < kSums; ++lane) rest = std::max(rest, largest[lane / 4][lane % 4]);
  return rest;
}

VERAVOX_INLINE void WithinRange(Normalisation normalisation, float range, std::span<float> values) {
  const float largest = LargestOf(values);
  const float floor = largest - range;
  float mean = 0.0f;
  float factor = 1.0f;
  if (normalisation != Normalisation::kNone) {
    double count = 0.0;
    // The largest value is above the floor, so the count is never 0.
    const Moments moments = MomentsAbove(floor, largest, values, &count);
    mean = static_cast<float>(moments.mean);
    factor = static_cast<float>(ScaleOf(normalisation, moments.squares, count));
  }
  // Not std::max, whose references keep the compiler from vectorising.
  for (float& value : values) value = ((value < floor ? floor : value) - mean) * factor;
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
