// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "simd/lanes.h"

namespace veravox {

// The plan of a forward complex FFT that transforms kLanes signals side by side: element i of every signal is
// one vector, so no butterfly moves data between the lanes of a register. Any size; best for small
// factors.
//
// Why not libav's av_tx: it takes twice as long, and FFmpeg 5.1 has nothing fast for sizes like 200, half of
// the 400 points of many recipes (the bench libav_comparison of commit ad73034).
//
// Decimation in time, in place. The input is stored in digit-reversed order (input_position), which costs
// nothing because the code that fills the buffer places every element individually anyway.
struct LaneFftPlan {
  struct Stage {
    int radix;
    int stride;         // size of the transforms that the stage combines
    int first_twiddle;  // into `twiddles`: radix - 1 factors for each of the `stride` butterflies
    int first_root;     // into `roots`: the radix-th roots of unity; unused by radix 2 and 4
  };
  struct Factor {
    float re;
    float im;
  };

  explicit LaneFftPlan(int transform_size);

  int size;
  int largest_radix = 1;
  std::vector<Stage> stages;
  std::vector<Factor> twiddles;
  std::vector<Factor> roots;
  std::vector<int> input_position;  // storage index of element i
};

// One complex element of each lane's signal.
template <int kLanes>
struct alignas(sizeof(float) * kLanes) LaneComplex {
  typename LaneTypes<kLanes>::Float re;
  typename LaneTypes<kLanes>::Float im;
};

namespace lane_fft {

// `b`: one factor for all lanes, or one per lane.
template <int kLanes, typename Factor>
VERAVOX_INLINE LaneComplex<kLanes> Multiply(const LaneComplex<kLanes>& a, const Factor& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

template <int kLanes>
VERAVOX_INLINE void Radix2(LaneComplex<kLanes>* x, int stride, const LaneFftPlan::Factor* twiddle,
                           bool unit) {
  const LaneComplex<kLanes> a = x[0];
  const LaneComplex<kLanes> b = unit ? x[stride] : Multiply(x[stride], twiddle[0]);
  x[0] = {a.re + b.re, a.im + b.im};
  x[stride] = {a.re - b.re, a.im - b.im};
}

template <int kLanes>
VERAVOX_INLINE void Radix4(LaneComplex<kLanes>* x, int stride, const LaneFftPlan::Factor* twiddle,
                           bool unit) {
  const LaneComplex<kLanes> a = x[0];
  const LaneComplex<kLanes> b = unit ? x[stride] : Multiply(x[stride], twiddle[0]);
  const LaneComplex<kLanes> c = unit ? x[2 * stride] : Multiply(x[2 * stride], twiddle[1]);
  const LaneComplex<kLanes> d = unit ? x[3 * stride] : Multiply(x[3 * stride], twiddle[2]);
  const LaneComplex<kLanes> ac_sum{a.re + c.re, a.im + c.im};
  const LaneComplex<kLanes> ac_difference{a.re - c.re, a.im - c.im};
  const LaneComplex<kLanes> bd_sum{b.re + d.re, b.im + d.im};
  const LaneComplex<kLanes> bd_turned{b.im - d.im, d.re - b.re};  // -i * (b - d)
  x[0] = {ac_sum.re + bd_sum.re, ac_sum.im + bd_sum.im};
  x[stride] = {ac_difference.re + bd_turned.re, ac_difference.im + bd_turned.im};
  x[2 * stride] = {ac_sum.re - bd_sum.re, ac_sum.im - bd_sum.im};
  x[3 * stride] = {ac_difference.re - bd_turned.re, ac_difference.im - bd_turned.im};
}

// The definition of the transform, for the odd primes in a size like 400. `scratch` holds `radix`
// elements.
template <int kLanes>
VERAVOX_INLINE void RadixAny(LaneComplex<kLanes>* x, int stride, const LaneFftPlan::Factor* twiddle,
                             int radix, const LaneFftPlan::Factor* root, LaneComplex<kLanes>* scratch) {
  scratch[0] = x[0];
  for (int q = 1; q < radix; ++q) scratch[q] = Multiply(x[q * stride], twiddle[q - 1]);
  for (int k = 0; k < radix; ++k) {
    LaneComplex<kLanes> sum = scratch[0];
    int turn = 0;
    for (int q = 1; q < radix; ++q) {
      turn += k;
      if (turn >= radix) turn -= radix;
      const LaneComplex<kLanes> term = Multiply(scratch[q], root[turn]);
      sum.re += term.re;
      sum.im += term.im;
    }
    x[k * stride] = sum;
  }
}

}  // namespace lane_fft

// `x`: plan.size elements in the order of plan.input_position; holds the spectrum afterwards, in natural
// order. `scratch`: plan.largest_radix elements.
template <int kLanes>
VERAVOX_INLINE void TransformLanes(const LaneFftPlan& plan, LaneComplex<kLanes>* x,
                                   LaneComplex<kLanes>* scratch) {
  for (const LaneFftPlan::Stage& stage : plan.stages) {
    const int stride = stage.stride;
    const int block = stride * stage.radix;
    for (LaneComplex<kLanes>* first = x; first < x + plan.size; first += block) {
      const LaneFftPlan::Factor* twiddle = plan.twiddles.data() + stage.first_twiddle;
      switch (stage.radix) {
        case 2:
          lane_fft::Radix2(first, stride, twiddle, true);
          for (int j = 1; j < stride; ++j) lane_fft::Radix2(first + j, stride, twiddle += 1, false);
          break;
        case 4:
          lane_fft::Radix4(first, stride, twiddle, true);
          for (int j = 1; j < stride; ++j) lane_fft::Radix4(first + j, stride, twiddle += 3, false);
          break;
        default:
          for (int j = 0; j < stride; ++j, twiddle += stage.radix - 1) {
            lane_fft::RadixAny(first + j, stride, twiddle, stage.radix, plan.roots.data() + stage.first_root,
                               scratch);
          }
      }
    }
  }
}

}  // namespace veravox
