// SPDX-License-Identifier: Apache-2.0
#include "features/running_median.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace veravox {
namespace {

constexpr size_t kReach = 16;  // values on each side of the one that the median is for
constexpr size_t kSmoothed = 2 * kReach + 1;
constexpr size_t kPadded = 48;  // a whole number of registers

size_t Mirrored(size_t position, size_t size) {
  if (position < kReach) return kReach - 1 - position;
  position -= kReach;
  return position < size ? position : 2 * size - 1 - position;
}

// How many of the values are smaller.
size_t CountBelow(const std::array<float, kPadded>& sorted, float value) {
  int count = 0;
  for (const float other : sorted) count += other < value ? 1 : 0;
  return static_cast<size_t>(count);
}

}  // namespace

void SubtractMedian(std::span<const float> curve, std::span<float> output) {
  const auto value_at = [&](size_t position) { return curve[Mirrored(position, curve.size())]; };
  std::array<float, kPadded> sorted;
  sorted.fill(std::numeric_limits<float>::infinity());
  for (size_t i = 0; i < kSmoothed; ++i) sorted[i] = value_at(i);
  std::sort(sorted.begin(), sorted.end());
  for (size_t bin = 0;; ++bin) {
    output[bin] = curve[bin] - sorted[kReach];
    if (bin + 1 == curve.size()) return;
    const float enters = value_at(bin + kSmoothed);
    float* const leaves = &sorted[CountBelow(sorted, value_at(bin))];
    float* const place = &sorted[CountBelow(sorted, enters)];
    if (place > leaves) {
      std::copy(leaves + 1, place, leaves);
      place[-1] = enters;
    } else {
      std::copy_backward(place, leaves, leaves + 1);
      *place = enters;
    }
  }
}

}  // namespace veravox
