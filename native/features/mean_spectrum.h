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

// Statistics over the frames of a window, at the resolution of a long FFT. Per bin, of the natural logarithms
// of the powers:
//    1  the mean over the frames,
//    2  the lower decile, which reflects the pauses,
//    3  the upper decile,
//    4  the standard deviation, small for lines that never pause,
//    5  the mean over the loudest third of the frames, by their mean over all bins,
//    6  the mean over the quietest third,
//    7  the second largest level,
//    8  the autocorrelation from one frame to the next, large for slow changes,
//    9  the skewness, positive for occasional sounds,
//   10  the share of the frames in which the bin is larger than each of the three on either side,
//   11  the share in which it is smaller than each of them,
//   12  the mean absolute difference from the next bin.
// Subtracting the running median over the bins from the first seven removes voice, microphone and equaliser.
// Not thread-safe.
class MeanSpectrum {
 public:
  static constexpr size_t kCurves = 12;
  static constexpr size_t kBlock = 32;      // neighbouring bins processed together
  static constexpr size_t kNeighbours = 3;  // bins compared on either side
  using Block = std::array<float, kBlock>;
  using Curves = std::array<Block, kCurves>;
  // The levels of a frame in a block's bins and their neighbours.
  using Row = std::array<float, kBlock + 2 * kNeighbours>;
  // Sorts quieter frames first, and equally loud ones by time.
  struct Frame {
    float total;  // sum of its levels
    size_t index;
    auto operator<=>(const Frame&) const = default;
  };
  struct Scratch {
    std::vector<Row> rows;
    // Levels of a block's bins over the frames, in ascending order.
    std::vector<Block> smallest;
    std::vector<Block> negated_largest;
  };

  // Frames of `fft_size` samples, a quarter of that apart. `fft_size` is within the bounds of ValidateRecipe.
  // `first_bin`: the lowest bin used; the bins below it mirror those above.
  MeanSpectrum(int fft_size, float input_gain, size_t first_bin = 0, SimdLevel level = BestSimdLevel());

  size_t OutputSize() const { return kCurves * (first_bin_ + bins_); }
  // [kCurves, fft_size / 2] from 0 Hz on: kCurves * fft_size / 2 elements of `output`. `samples` is not
  // empty; less than a frame is repeated to fill one.
  void Compute(std::span<const float> samples, std::span<float> output);

 private:
  size_t fft_size_;
  size_t first_bin_;
  size_t bins_;  // bins from first_bin_ on
  std::unique_ptr<Spectrogram> spectrogram_;
  std::vector<float> repeated_;
  std::vector<float> levels_;  // [frames, bins], with space for a row's neighbours on either side
  std::vector<Frame> by_loudness_;
  Scratch scratch_;
  SimdLevel level_;
  void (*summarise_)(const float* levels, size_t bins, std::span<const Frame> by_loudness, Scratch& scratch,
                     Curves& curves);
  std::vector<float> curves_;              // [kCurves, bins]
  std::vector<float> medians_subtracted_;  // of the first kLevelCurves
};

}  // namespace veravox
