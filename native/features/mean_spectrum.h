// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "features/spectrogram.h"

namespace veravox {

// What the frames of a window have in common, at the resolution of a long FFT: per bin the mean of the
// natural logarithms of the powers, and their lower decile, that of the pauses. The running median over the
// bins is subtracted from both, and with it voice, microphone and equaliser; lines at fixed frequencies
// remain. Not thread-safe.
class MeanSpectrum {
 public:
  static constexpr size_t kCurves = 2;

  // Frames of `fft_size` samples, a quarter of that from one to the next. `fft_size` is within the bounds of
  // ValidateRecipe.
  MeanSpectrum(int fft_size, float input_gain);

  size_t OutputSize() const { return kCurves * bins_; }
  // [kCurves, fft_size / 2] from 0 Hz on: kCurves * fft_size / 2 elements of `output`. `samples` is not
  // empty; less than a frame is repeated to a whole one.
  void Compute(std::span<const float> samples, std::span<float> output);

 private:
  size_t fft_size_;
  size_t bins_;
  std::unique_ptr<Spectrogram> spectrogram_;
  std::vector<float> repeated_;
  std::vector<float> levels_;  // [bins, frames]
  std::vector<float> curve_;
  std::vector<float> quiet_curve_;
};

}  // namespace veravox
