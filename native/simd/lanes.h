// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "simd/simd_level.h"

namespace veravox {

// GCC's and Clang's vector types: arithmetic works on every lane. Use as many lanes as the registers of the
// SimdLevel hold; wider vectors compile, but are slow. They pass through inlined functions only, so the
// warning about a calling convention that depends on register width does not apply.
#pragma GCC diagnostic ignored "-Wpsabi"

template <int kLanes>
struct LaneTypes;

template <>
struct LaneTypes<4> {
  typedef float Float __attribute__((vector_size(16), aligned(16)));
  typedef int32_t Int __attribute__((vector_size(16), aligned(16)));
  typedef float Unaligned __attribute__((vector_size(16), aligned(alignof(float)), may_alias));
};

template <>
struct LaneTypes<8> {
  typedef float Float __attribute__((vector_size(32), aligned(32)));
  typedef int32_t Int __attribute__((vector_size(32), aligned(32)));
  typedef float Unaligned __attribute__((vector_size(32), aligned(alignof(float)), may_alias));
};

template <>
struct LaneTypes<16> {
  typedef float Float __attribute__((vector_size(64), aligned(64)));
  typedef int32_t Int __attribute__((vector_size(64), aligned(64)));
  typedef float Unaligned __attribute__((vector_size(64), aligned(alignof(float)), may_alias));
};

// kLanes consecutive floats. Not memcpy, which GCC splits into halves that stall the next full load.
template <int kLanes>
VERAVOX_INLINE typename LaneTypes<kLanes>::Float LoadLanes(const float* values) {
  return *reinterpret_cast<const typename LaneTypes<kLanes>::Unaligned*>(values);
}

template <int kLanes>
VERAVOX_INLINE void StoreLanes(const typename LaneTypes<kLanes>::Float& lanes, float* values) {
  *reinterpret_cast<typename LaneTypes<kLanes>::Unaligned*>(values) = lanes;
}

namespace lanes {

// Exchanges the off-diagonal squares of `kSide` lanes between two rows that are kSide rows apart.
template <int kLanes, int kSide, int... kLane>
VERAVOX_INLINE void ExchangeSquares(typename LaneTypes<kLanes>::Float& upper,
                                    typename LaneTypes<kLanes>::Float& lower,
                                    std::integer_sequence<int, kLane...>) {
  const auto old_upper = upper;
  const auto old_lower = lower;
  upper = __builtin_shufflevector(old_upper, old_lower,
                                  ((kLane & kSide) == 0 ? kLane : kLanes + kLane - kSide)...);
  lower = __builtin_shufflevector(old_upper, old_lower,
                                  ((kLane & kSide) == 0 ? kLane + kSide : kLanes + kLane)...);
}

template <int kLanes, int kSide>
VERAVOX_INLINE void TransposeSquares(typename LaneTypes<kLanes>::Float* rows) {
  for (int row = 0; row < kLanes; ++row) {
    if ((row & kSide) == 0) {
      ExchangeSquares<kLanes, kSide>(rows[row], rows[row + kSide], std::make_integer_sequence<int, kLanes>());
    }
  }
  if constexpr (kSide > 1) TransposeSquares<kLanes, kSide / 2>(rows);
}

// The same for the first kSide pairs of rows, adding up each pair: half the rows remain, each with half the
// lanes.
template <int kLanes, int kSide>
VERAVOX_INLINE void SumSquares(typename LaneTypes<kLanes>::Float* rows) {
  for (int row = 0; row < kSide; ++row) {
    ExchangeSquares<kLanes, kSide>(rows[row], rows[row + kSide], std::make_integer_sequence<int, kLanes>());
    rows[row] += rows[row + kSide];
  }
  if constexpr (kSide > 1) SumSquares<kLanes, kSide / 2>(rows);
}

}  // namespace lanes

// Transposes a square of kLanes rows in registers: halves are exchanged, then the halves of the halves, and
// so on.
template <int kLanes>
VERAVOX_INLINE void TransposeLanes(typename LaneTypes<kLanes>::Float* rows) {
  lanes::TransposeSquares<kLanes, kLanes / 2>(rows);
}

// Adds up the lanes of each of kLanes rows: lane i of the result is the sum of rows[i]. Destroys the rows.
template <int kLanes>
VERAVOX_INLINE typename LaneTypes<kLanes>::Float SumEachRow(typename LaneTypes<kLanes>::Float* rows) {
  lanes::SumSquares<kLanes, kLanes / 2>(rows);
  return rows[0];
}

}  // namespace veravox
