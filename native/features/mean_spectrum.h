// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "features/spectrogram.h"
#include "simd/simd_level.h"

namespace veravox {

// What the frames of a window have in common, at the resolution of a long FFT. Per bin, of the natural
// logarithms of the powers: the mean over the frames, the lower decile, which is that of the pauses, the
// upper one, and the standard deviation, which is small for lines that never pause. The running median over
// the bins is subtracted from each, and with it voice, microphone and equaliser. Not thread-safe.
class MeanSpectrum {
 public:
  static constexpr size_t kCurves = 4;
  static constexpr size_t kBlock = 32;  // neighbouring bins that are looked at together
  using Block = std::array<float, kBlock>;
  using Curves = std::array<Block, kCurves>;
  // Levels of a block's bins over the frames, in ascending order.
  struct Ordered {
    std::vector<Block> smallest;
    std::vector<Block> negated_largest;
  };

  // Frames of `fft_size` samples, a quarter of that from one to the next. `fft_size` is within the bounds of
  // ValidateRecipe.
  MeanSpectrum(int fft_size, float input_gain, SimdLevel level = BestSimdLevel());

  size_t OutputSize() const { return kCurves * bins_; }
  // [kCurves, fft_size / 2] from 0 Hz on: kCurves * fft_size / 2 elements of `output`. `samples` is not
  // empty; less than a frame is repeated to a whole one.
  void Compute(std::span<const float> samples, std::span<float> output);

 private:
  size_t fft_size_;
  size_t bins_;
  std::unique_ptr<Spectrogram> spectrogram_;
  std::vector<float> repeated_;
  std::vector<float> levels_;  // [frames, bins]
  Ordered ordered_;
  void (*summarise_)(const float* levels, size_t frames, size_t bins, size_t width, Ordered& ordered,
                     Curves& curves);
  std::vector<float> curves_;  // [kCurves, bins]
};

}  // namespace veravox
