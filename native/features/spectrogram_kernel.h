// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "features/lane_fft.h"
#include "features/spectrogram_plan.h"
#include "simd/lanes.h"

namespace veravox {

// Scratch memory for kLanes frames, one per lane of a vector.
template <int kLanes>
struct SpectrogramScratch {
  explicit SpectrogramScratch(const SpectrogramPlan& plan)
      : spectrum(plan.fft.size),
        radix(plan.fft.largest_radix),
        power(plan.fft.size + 1),
        bands(plan.filter_bank.bands.size()) {}

  struct alignas(sizeof(float) * kLanes) Row {
    typename LaneTypes<kLanes>::Float lanes;
  };
  std::vector<LaneComplex<kLanes>> spectrum;
  std::vector<LaneComplex<kLanes>> radix;
  std::vector<Row> power;
  std::vector<Row> bands;
};

namespace spectrogram_kernel {

// Mean of the frame, with several sums so that the additions do not wait for each other.
VERAVOX_INLINE float Mean(const float* frame, int length) {
  constexpr int kSums = 16;
  float sums[kSums] = {};
  int i = 0;
  for (; i + kSums <= length; i += kSums) {
    for (int s = 0; s < kSums; ++s) sums[s] += frame[i + s];
  }
  float sum = 0.0f;
  for (; i < length; ++i) sum += frame[i];
  for (int s = 0; s < kSums; ++s) sum += sums[s];
  return sum / static_cast<float>(length);
}

// Fills scratch.spectrum with the frames, prepared and windowed, in the order that the FFT wants.
template <int kLanes>
VERAVOX_INLINE void LoadFrames(const SpectrogramPlan& plan, const float* const* frames,
                               SpectrogramScratch<kLanes>& scratch) {
  using Vector = typename LaneTypes<kLanes>::Float;
  const int length = plan.window_length;
  const float pre_emphasis = plan.pre_emphasis;
  const float* window = plan.window.data();
  const int* position = plan.fft.input_position.data();
  LaneComplex<kLanes>* spectrum = scratch.spectrum.data();
  Vector offset{};
  Vector previous;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (plan.remove_dc_offset) offset[lane] = Mean(frames[lane], length);
    previous[lane] = frames[lane][0];
  }
  previous -= offset;
  const auto prepared = [&](int i, const Vector& sample) __attribute__((always_inline)) {
    const Vector current = sample - offset;
    const Vector emphasised = current - pre_emphasis * previous;
    previous = current;
    return emphasised * window[i];
  };
  // Two neighbouring samples, the first at an even index. Beyond the window they are 0.
  const auto put = [&](int i, const Vector& even, const Vector& odd) __attribute__((always_inline)) {
    spectrum[position[i / 2]] = {even, odd};
  };

  int i = 0;
  for (; i + kLanes <= length; i += kLanes) {
    Vector rows[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) rows[lane] = LoadLanes<kLanes>(frames[lane] + i);
    TransposeLanes<kLanes>(rows);
    for (int row = 0; row < kLanes; row += 2) {
      const Vector even = prepared(i + row, rows[row]);
      put(i + row, even, prepared(i + row + 1, rows[row + 1]));
    }
  }
  const auto rest = [&](int place) __attribute__((always_inline)) {
    Vector sample{};
    if (place >= length) return sample;
    for (int lane = 0; lane < kLanes; ++lane) sample[lane] = frames[lane][place];
    return prepared(place, sample);
  };
  for (; i < 2 * plan.fft.size; i += 2) {
    const Vector even = rest(i);
    put(i, even, rest(i + 1));
  }
}

// Separates the spectrum of the even samples (E) from that of the odd ones (O) and combines them to the
// whole: X[k] = E[k] + t[k] O[k], X[n - k] = conj(E[k] - t[k] O[k]). `put(k, re, im)` takes X[k], the middle
// one twice.
template <int kLanes, typename Put>
VERAVOX_INLINE void SplitSpectrum(const SpectrogramPlan& plan, const LaneComplex<kLanes>* z, const Put& put) {
  using Vector = typename LaneTypes<kLanes>::Float;
  const int n = plan.fft.size;
  // The window carries a factor of 1/2, which the first and last bin do not need.
  put(0, 2.0f * (z[0].re + z[0].im), Vector{});
  put(n, 2.0f * (z[0].re - z[0].im), Vector{});
  for (int k = 1; k <= n / 2; ++k) {
    const LaneComplex<kLanes> a = z[k];
    const LaneComplex<kLanes> b = z[n - k];
    const Vector even_re = a.re + b.re;
    const Vector even_im = a.im - b.im;
    const LaneComplex<kLanes> odd{a.im + b.im, b.re - a.re};
    const LaneComplex<kLanes> turned = lane_fft::Multiply(odd, plan.split_twiddles[k]);
    put(k, even_re + turned.re, even_im + turned.im);
    put(n - k, even_re - turned.re, turned.im - even_im);
  }
}

template <int kLanes>
VERAVOX_INLINE void PowerSpectrum(const SpectrogramPlan& plan, SpectrogramScratch<kLanes>& scratch) {
  using Vector = typename LaneTypes<kLanes>::Float;
  auto* power = scratch.power.data();
  SplitSpectrum<kLanes>(
      plan,
      scratch.spectrum.data(), [=](int k, const Vector& re, const Vector& im) __attribute__((always_inline)) {
        power[k].lanes = re * re + im * im;
      });
  if (plan.magnitude) {
    for (int k = 0; k <= plan.fft.size; ++k) {
      for (int lane = 0; lane < kLanes; ++lane) power[k].lanes[lane] = std::sqrt(power[k].lanes[lane]);
    }
  }
}

// Natural logarithm of positive normal numbers, to about one unit in the last place; NaN for infinity and
// NaN, so that broken input shows. x = 2^e * m with m in [sqrt(1/2), sqrt(2)), log m = 2 artanh((m - 1) / (m
// + 1)).
template <int kLanes>
VERAVOX_INLINE typename LaneTypes<kLanes>::Float NaturalLog(const typename LaneTypes<kLanes>::Float& x) {
  using Vector = typename LaneTypes<kLanes>::Float;
  using Int = typename LaneTypes<kLanes>::Int;
  constexpr int32_t kSqrtHalfBits = 0x3f3504f3;
  const Int bits = reinterpret_cast<Int>(x);
  const Int exponent = (bits - kSqrtHalfBits) >> 23;
  const Int mantissa_bits = bits - (exponent << 23);
  const Vector mantissa = reinterpret_cast<Vector>(mantissa_bits);
  const Vector s = (mantissa - 1.0f) / (mantissa + 1.0f);
  const Vector z = s * s;
  const Vector series = z * (1.0f / 3 + z * (1.0f / 5 + z * (1.0f / 7 + z * (1.0f / 9))));
  const Vector log_mantissa = 2.0f * (s + s * series);
  const Vector broken = x - x;  // 0, or NaN where x is not finite
  return __builtin_convertvector(exponent, Vector) * std::numbers::ln2_v<float> + log_mantissa + broken;
}

template <int kLanes>
VERAVOX_INLINE void SumBands(const SpectrogramPlan& plan, SpectrogramScratch<kLanes>& scratch) {
  using Vector = typename LaneTypes<kLanes>::Float;
  for (size_t index = 0; index < plan.filter_bank.bands.size(); ++index) {
    const FilterBank::Band& band = plan.filter_bank.bands[index];
    const float* weight = plan.filter_bank.weights.data() + band.first_weight;
    const auto* power = scratch.power.data() + band.first_bin;
    Vector sum{};
    for (int bin = 0; bin < band.bins; ++bin) sum += power[bin].lanes * weight[bin];
    if (plan.logarithmic) {
      sum = sum < plan.log_floor ? Vector{} + plan.log_floor : sum;  // NaN passes through
      sum = NaturalLog<kLanes>(sum) * plan.log_scale;
    }
    scratch.bands[index].lanes = sum;
  }
}

}  // namespace spectrogram_kernel

// Computes scratch.bands of the kLanes frames that start at `frames[lane]`.
template <int kLanes>
VERAVOX_INLINE void ComputeFrames(const SpectrogramPlan& plan, const float* const* frames,
                                  SpectrogramScratch<kLanes>& scratch) {
  spectrogram_kernel::LoadFrames(plan, frames, scratch);
  TransformLanes(plan.fft, scratch.spectrum.data(), scratch.radix.data());
  spectrogram_kernel::PowerSpectrum(plan, scratch);
  spectrogram_kernel::SumBands(plan, scratch);
}

}  // namespace veravox
