// SPDX-License-Identifier: Apache-2.0
#include "resample/halver.h"

#include <algorithm>
#include <cmath>

#include "resample/kaiser_low_pass.h"
#include "simd/lanes.h"

namespace veravox {
namespace {

// Outputs are computed in runs of this size, by the same instructions wherever a block ends.
constexpr size_t kRun = 8;

// kVectors * kLanes outputs: half the sample at the output's time plus the odd samples left and right of it.
template <int kLanes, int kVectors>
VERAVOX_INLINE void HalveVectors(const float* even, const float* odd, std::span<const float> coefficients,
                                 float* output) {
  using Vector = typename LaneTypes<kLanes>::Float;
  const float* right = odd + coefficients.size();
  const float* left = right - 1;
  Vector sums[kVectors];
  for (int v = 0; v < kVectors; ++v) sums[v] = 0.5f * LoadLanes<kLanes>(even + v * kLanes);
  for (size_t k = 0; k < coefficients.size(); ++k) {
    for (int v = 0; v < kVectors; ++v) {
      sums[v] += coefficients[k] *
                 (LoadLanes<kLanes>(right + v * kLanes + k) + LoadLanes<kLanes>(left + v * kLanes - k));
    }
  }
  for (int v = 0; v < kVectors; ++v) StoreLanes<kLanes>(sums[v], output + v * kLanes);
}

template <int kLanes>
VERAVOX_INLINE void Halve(const float* even, const float* odd, std::span<const float> coefficients,
                          std::span<float> output) {
  constexpr size_t kLongRun = 4 * kRun;
  size_t n = 0;
  for (; n + kLongRun <= output.size(); n += kLongRun) {
    HalveVectors<kLanes, kLongRun / kLanes>(even + n, odd + n, coefficients, &output[n]);
  }
  for (; n < output.size(); n += kRun) {
    HalveVectors<kLanes, kRun / kLanes>(even + n, odd + n, coefficients, &output[n]);
  }
}

void HalveBaseline(const float* even, const float* odd, std::span<const float> coefficients,
                   std::span<float> output) {
  Halve<4>(even, odd, coefficients, output);
}

VERAVOX_TARGET_AVX2 void HalveAvx2(const float* even, const float* odd, std::span<const float> coefficients,
                                   std::span<float> output) {
  Halve<8>(even, odd, coefficients, output);
}

}  // namespace

Halver::Halver(double pass, double attenuation_db, int64_t first_input, SimdLevel level)
    : kernel_(level >= SimdLevel::kAvx2 ? HalveAvx2 : HalveBaseline) {
  const KaiserLowPass filter(pass, 0.5 - pass, attenuation_db);
  std::vector<double> response(static_cast<size_t>(std::ceil(0.5 * filter.half_width())));
  filter.Sample(-1.0, 2.0, response);
  coefficients_.assign(response.begin(), response.end());
  const auto reach = static_cast<int64_t>(coefficients_.size());
  first_output_ = first_input / 2 - reach;
  first_output_ -= first_output_ & 1;
  silence_ = static_cast<size_t>(first_input / 2 - first_output_);
  Reset();
}

void Halver::Reset() {
  even_.assign(silence_, 0.0f);
  odd_.assign(silence_ + coefficients_.size(), 0.0f);
  next_is_odd_ = false;
}

void Halver::Transfer(SavedState& state) {
  state.Transfer(even_);
  state.Transfer(odd_);
  state.Transfer(next_is_odd_);
}

void Halver::Push(std::span<const float> input, std::vector<float>& output) {
  if (next_is_odd_ && !input.empty()) {
    odd_.push_back(input.front());
    input = input.subspan(1);
    next_is_odd_ = false;
  }
  const size_t pairs = input.size() / 2;
  const size_t even_before = even_.size();
  const size_t odd_before = odd_.size();
  even_.resize(even_before + pairs);
  odd_.resize(odd_before + pairs);
  for (size_t i = 0; i < pairs; ++i) {
    even_[even_before + i] = input[2 * i];
    odd_[odd_before + i] = input[2 * i + 1];
  }
  if (input.size() % 2 != 0) {
    even_.push_back(input.back());
    next_is_odd_ = true;
  }

  // Output n needs the odd samples up to n + coefficients_.size() - 1.
  const size_t odd_reach = 2 * coefficients_.size() - 1;
  const size_t ready = std::min(even_.size(), odd_.size() - std::min(odd_.size(), odd_reach));
  output.resize(ready - ready % kRun);
  kernel_(even_.data(), odd_.data(), coefficients_, output);
  const auto used = static_cast<std::ptrdiff_t>(output.size());
  even_.erase(even_.begin(), even_.begin() + used);
  odd_.erase(odd_.begin(), odd_.begin() + used);
}

}  // namespace veravox
