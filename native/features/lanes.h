// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "simd_level.h"

namespace veravox {

// GCC's and Clang's vector types: arithmetic works on every lane, and a vector wider than the processor's
// registers is split by the compiler. They pass through inlined functions only, so the warning about the
// calling convention that a wider register would change does not apply.
#pragma GCC diagnostic ignored "-Wpsabi"

template <int kLanes>
struct LaneTypes;

template <>
struct LaneTypes<8> {
  using Float = float __attribute__((vector_size(32), aligned(32)));
  using Int = int32_t __attribute__((vector_size(32), aligned(32)));
};

template <>
struct LaneTypes<16> {
  using Float = float __attribute__((vector_size(64), aligned(64)));
  using Int = int32_t __attribute__((vector_size(64), aligned(64)));
};

}  // namespace veravox
