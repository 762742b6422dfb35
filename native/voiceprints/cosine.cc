// SPDX-License-Identifier: Apache-2.0
#include "voiceprints/cosine.h"

#include <cstddef>

namespace veravox {
namespace {

constexpr size_t kLanes = 8;

VERAVOX_INLINE DotProducts MultiplyLanes(std::span<const float> vector, std::span<const double> other) {
  double with[kLanes] = {};
  double own[kLanes] = {};
  for (size_t i = 0; i + kLanes <= vector.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double value = vector[i + lane];
      with[lane] += value * other[i + lane];
      own[lane] += value * value;
    }
  }
  DotProducts sum;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    sum.with += with[lane];
    sum.own += own[lane];
  }
  return sum;
}

DotProducts MultiplyBaseline(std::span<const float> vector, std::span<const double> other) {
  return MultiplyLanes(vector, other);
}
VERAVOX_TARGET_AVX2 DotProducts MultiplyAvx2(std::span<const float> vector, std::span<const double> other) {
  return MultiplyLanes(vector, other);
}
VERAVOX_TARGET_AVX512 DotProducts MultiplyAvx512(std::span<const float> vector,
                                                 std::span<const double> other) {
  return MultiplyLanes(vector, other);
}

}  // namespace

DotProducts Multiply(std::span<const float> vector, std::span<const double> other, SimdLevel level) {
  switch (level) {
    case SimdLevel::kAvx512:
      return MultiplyAvx512(vector, other);
    case SimdLevel::kAvx2:
      return MultiplyAvx2(vector, other);
    case SimdLevel::kBaseline:
      break;
  }
  return MultiplyBaseline(vector, other);
}

}  // namespace veravox
