// SPDX-License-Identifier: Apache-2.0
#include "features/running_median.h"

#include <algorithm>
#include <array>

#include "simd/lanes.h"

namespace veravox {
namespace {

constexpr size_t kReach = 16;  // values on either side of the median's position
constexpr size_t kSmoothed = 2 * kReach + 1;

// One value per curve.
using Row = LaneTypes<static_cast<int>(kMedianCurves)>::Float;

VERAVOX_INLINE Row Smaller(Row a, Row b) { return a < b ? a : b; }
VERAVOX_INLINE Row Larger(Row a, Row b) { return a < b ? b : a; }

size_t Mirrored(size_t position, size_t size) {
  if (position < kReach) return kReach - 1 - position;
  position -= kReach;
  return position < size ? position : 2 * size - 1 - position;
}

// Each lane of `sorted` is in ascending order. Inserts `enters` and removes the first value equal to
// `leaves`; everything after that moves down by one.
VERAVOX_INLINE void Replace(Row (&sorted)[kSmoothed], Row leaves, Row enters) {
  Row inserted = Smaller(sorted[0], enters);
  for (size_t k = 0; k + 1 < kSmoothed; ++k) {
    const Row next = Smaller(sorted[k + 1], Larger(sorted[k], enters));
    sorted[k] = inserted < leaves ? inserted : next;
    inserted = next;
  }
  Row& last = sorted[kSmoothed - 1];
  last = inserted < leaves ? inserted : Larger(last, enters);
}

VERAVOX_INLINE void Subtract(std::span<const float> curves, size_t bins, std::span<float> output) {
  const size_t count = curves.size() / bins;
  // Lanes without a curve of their own repeat the first curve.
  std::array<const float*, kMedianCurves> starts;
  for (size_t i = 0; i < kMedianCurves; ++i) starts[i] = &curves[i < count ? i * bins : 0];
  const auto row_at = [&](size_t position) {
    const size_t bin = Mirrored(position, bins);
    Row row{};
    for (size_t i = 0; i < kMedianCurves; ++i) row[i] = starts[i][bin];
    return row;
  };
  Row sorted[kSmoothed];
  for (size_t i = 0; i < kMedianCurves; ++i) {
    std::array<float, kSmoothed> first;
    for (size_t k = 0; k < kSmoothed; ++k) first[k] = starts[i][Mirrored(k, bins)];
    std::sort(first.begin(), first.end());
    for (size_t k = 0; k < kSmoothed; ++k) sorted[k][i] = first[k];
  }
  for (size_t bin = 0;; ++bin) {
    for (size_t i = 0; i < count; ++i) output[i * bins + bin] = starts[i][bin] - sorted[kReach][i];
    if (bin + 1 == bins) return;
    Replace(sorted, row_at(bin), row_at(bin + kSmoothed));
  }
}

void SubtractBaseline(std::span<const float> curves, size_t bins, std::span<float> output) {
  Subtract(curves, bins, output);
}

VERAVOX_TARGET_AVX2 void SubtractAvx2(std::span<const float> curves, size_t bins, std::span<float> output) {
  Subtract(curves, bins, output);
}

}  // namespace

void SubtractMedians(std::span<const float> curves, size_t bins, std::span<float> output, SimdLevel level) {
  (level >= SimdLevel::kAvx2 ? SubtractAvx2 : SubtractBaseline)(curves, bins, output);
}

}  // namespace veravox
