// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "features/spectrogram_plan.h"
#include "simd/simd_level.h"

namespace veravox {

// Regularity of a window's phases, bin by bin. With u(t, k) the spectrum of frame t at bin k, divided
// by its magnitude, each of five products is averaged over the frames, weighted by the root of the magnitude
// at (t, k); products of two bins by the smaller root of both. Magnitudes have a floor of 3e-4 added:
//   u(t + 1, k) u(t - 1, k) / u(t, k)^2     how the frequency changes from hop to hop,
//   u(t + 4, k) u(t - 4, k) / u(t, k)^2     and over a frame,
//   u(t, k + 1) / u(t, k)                   the group delay,
//   the same divided by that of frame t - 1,
//   u(t, j) u(t, k - j) / u(t, k)           the bin against those of half its frequency: j is k / 2, rounded
//   down.
// A mean close to 1 in magnitude says that all frames have the same phase there. Not thread-safe.
class PhaseCoherence {
 public:
  static constexpr size_t kProducts = 5;
  static constexpr size_t kCurves = 2 * kProducts;

  // Frames of `fft_size` samples, a quarter of that apart. `fft_size` is within the bounds of ValidateRecipe;
  // the processor supports `level`. `first_bin`: the lowest bin used. If it is above 0, the bins below mirror
  // those above, and the fifth product is 0 throughout: its sign depends on the recording's polarity.
  static std::unique_ptr<PhaseCoherence> Make(int fft_size, float input_gain, size_t first_bin = 0,
                                              SimdLevel level = BestSimdLevel());
  virtual ~PhaseCoherence() = default;

  size_t OutputSize() const { return kCurves * bins_; }
  // [kCurves, fft_size / 2] from 0 Hz on: real and imaginary part of each mean in turn. `samples` is not
  // empty; less than three frames are repeated to fill them. Silence gives zeros.
  void Compute(std::span<const float> samples, std::span<float> output);

 protected:
  PhaseCoherence(const FeatureRecipe& frames, size_t first_bin);

  const SpectrogramPlan plan_;
  const size_t first_bin_;

 private:
  // `frames` frames, each `hop` samples after the one before.
  virtual void ComputeFrames(std::span<const float> samples, size_t hop, size_t frames,
                             std::span<float> output) = 0;

  size_t fft_size_;
  size_t bins_;
  std::vector<float> repeated_;
};

}  // namespace veravox
