// SPDX-License-Identifier: Apache-2.0
#include "resample/interpolated_filter.h"

#include <algorithm>

#include "simd/lanes.h"

namespace veravox {
namespace {

// Interpolation images of a component of f cycles per input sample are about (f / kPhases)^2 strong: below
// -120 dB.
constexpr size_t kPhases = 512;

// The weighted sums with two neighbouring rows of weights, mixed.
template <int kLanes>
VERAVOX_INLINE float MixRows(const float* samples, const float* weights, size_t taps, float fraction) {
  using Vector = typename LaneTypes<kLanes>::Float;
  Vector sums[2][2] = {};  // per row, of even and odd vectors: so that additions wait less for each other
  for (size_t tap = 0; tap < taps; tap += 2 * kLanes) {
    for (int part = 0; part < 2; ++part) {
      const Vector x = LoadLanes<kLanes>(samples + tap + part * kLanes);
      sums[0][part] += x * LoadLanes<kLanes>(weights + tap + part * kLanes);
      sums[1][part] += x * LoadLanes<kLanes>(weights + taps + tap + part * kLanes);
    }
  }
  const Vector here = sums[0][0] + sums[0][1];
  const Vector there = sums[1][0] + sums[1][1];
  const Vector mixed = here + fraction * (there - here);
  float sum = 0.0f;
  for (int lane = 0; lane < kLanes; ++lane) sum += mixed[lane];
  return sum;
}

size_t WholeBlocks(int64_t taps) { return (static_cast<size_t>(taps) + 15) / 16 * 16; }

}  // namespace

InterpolatedFilter::InterpolatedFilter(Ratio ratio, const KaiserLowPass& low_pass, int64_t first_input,
                                       SimdLevel level)
    : PolyphaseFilter(ratio, low_pass, first_input, level),
      row_taps_(WholeBlocks(taps_)),
      rows_((kPhases + 1) * row_taps_) {
  const std::vector<float> weights = PhaseWeights(kPhases);
  for (size_t row = 0; row <= kPhases; ++row) {
    std::copy_n(weights.begin() + static_cast<int64_t>(row) * taps_, taps_, &rows_[row * row_taps_]);
  }
}

template <int kLanes>
VERAVOX_INLINE size_t InterpolatedFilter::FilterEach(float* output) {
  const double rows_per_phase = static_cast<double>(kPhases) / static_cast<double>(ratio_.up);
  size_t outputs = 0;
  while (next_ + row_taps_ <= input_.size()) {
    const double place = static_cast<double>(phase_) * rows_per_phase;
    const auto row = static_cast<size_t>(place);
    const auto fraction = static_cast<float>(place - static_cast<double>(row));
    output[outputs++] = MixRows<kLanes>(&input_[next_], &rows_[row * row_taps_], row_taps_, fraction);
    phase_ += ratio_.down;
    next_ += static_cast<size_t>(phase_ / ratio_.up);
    phase_ %= ratio_.up;
  }
  return outputs;
}

size_t InterpolatedFilter::FilterBaseline(float* output) { return FilterEach<4>(output); }
VERAVOX_TARGET_AVX2 size_t InterpolatedFilter::FilterAvx2(float* output) { return FilterEach<8>(output); }

}  // namespace veravox
