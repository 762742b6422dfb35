// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "simd/simd_level.h"

namespace veravox {

constexpr size_t kMedianCurves = 8;  // processed at once

// Subtracts the running median over 33 values from curves. They are mirrored at their ends, including the
// outermost values. `curves` is [n, bins] with n from 1 to kMedianCurves and at least 16 bins, without NaN.
// `output` has the same size.
void SubtractMedians(std::span<const float> curves, size_t bins, std::span<float> output,
                     SimdLevel level = BestSimdLevel());

}  // namespace veravox
