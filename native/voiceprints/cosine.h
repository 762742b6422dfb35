// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "simd/simd_level.h"

namespace veravox {

struct DotProducts {
  double with = 0.0;  // of the vector with the other one
  double own = 0.0;   // of the vector with itself
};

// Products of a single-precision and a double-precision vector, summed in double precision. Both have the
// same size, a multiple of eight.
DotProducts Multiply(std::span<const float> vector, std::span<const double> other,
                     SimdLevel level = BestSimdLevel());

}  // namespace veravox
