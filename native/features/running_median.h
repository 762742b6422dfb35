// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "simd/simd_level.h"

namespace veravox {

constexpr size_t kMedianCurves = 8;  // that are dealt with at once

// Writes curves less their running medians over 33 values. They are mirrored at their ends, the outermost
// values included. `curves` is [n, bins], n at most kMedianCurves and not 0, with at least 16 bins; all
// values are numbers. `output` is as large.
void SubtractMedians(std::span<const float> curves, size_t bins, std::span<float> output,
                     SimdLevel level = BestSimdLevel());

}  // namespace veravox
