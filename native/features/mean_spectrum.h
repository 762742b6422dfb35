// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "features/spectrogram.h"
#include "simd/simd_level.h"

namespace veravox {

// What the frames of a window have in common, at the resolution of a long FFT. Per bin, of the natural
// logarithms of the powers:
//    1  the mean over the frames,
//    2  the lower decile, which is that of the pauses,
//    3  the upper decile,
//    4  the standard deviation, which is small for lines that never pause,
//    5  the mean over the loudest third of the frames, by their mean over all bins,
//    6  the mean over the quietest third,
//    7  the second largest level,
//    8  the autocorrelation from one frame to the next, which is large for what changes slowly,
//    9  the skewness, which is positive for what is heard now and then only,
//   10  the share of the frames in which the bin is larger than each of the three on either side,
//   11  the share in which it is smaller than each of them,
//   12  the mean absolute difference from the next bin.
// The running median over the bins is subtracted from the first seven, and with it voice, microphone and
// equaliser. Not thread-safe.
class MeanSpectrum {
 public:
  static constexpr size_t kCurves = 12;
  static constexpr size_t kBlock = 32;      // neighbouring bins that are looked at together
  static constexpr size_t kNeighbours = 3;  // on either side that a bin is compared with
  using Block = std::array<float, kBlock>;
  using Curves = std::array<Block, kCurves>;
  // The levels of a frame in a block's bins and their neighbours.
  using Row = std::array<float, kBlock + 2 * kNeighbours>;
  // In ascending order the quieter frame comes first, and of two that are as loud the earlier one.
  struct Frame {
    float total;  // of its levels
    size_t index;
    auto operator<=>(const Frame&) const = default;
  };
  struct Scratch {
    std::vector<Row> rows;
    // Levels of a block's bins over the frames, in ascending order.
    std::vector<Block> smallest;
    std::vector<Block> negated_largest;
  };

  // Frames of `fft_size` samples, a quarter of that from one to the next. `fft_size` is within the bounds of
  // ValidateRecipe. `first_bin`: the lowest bin that is looked at; the output has a mirror image of the bins
  // from there on below it.
  MeanSpectrum(int fft_size, float input_gain, size_t first_bin = 0, SimdLevel level = BestSimdLevel());

  size_t OutputSize() const { return kCurves * (first_bin_ + bins_); }
  // [kCurves, fft_size / 2] from 0 Hz on: kCurves * fft_size / 2 elements of `output`. `samples` is not
  // empty; less than a frame is repeated to a whole one.
  void Compute(std::span<const float> samples, std::span<float> output);

 private:
  size_t fft_size_;
  size_t first_bin_;
  size_t bins_;  // from first_bin_ on
  std::unique_ptr<Spectrogram> spectrogram_;
  std::vector<float> repeated_;
  std::vector<float> levels_;  // [frames, bins], with space for a row's neighbours on either side
  std::vector<Frame> by_loudness_;
  Scratch scratch_;
  SimdLevel level_;
  void (*summarise_)(const float* levels, size_t bins, std::span<const Frame> by_loudness, Scratch& scratch,
                     Curves& curves);
  std::vector<float> curves_;              // [kCurves, bins]
  std::vector<float> medians_subtracted_;  // of the first ones
};

}  // namespace veravox
