// SPDX-License-Identifier: Apache-2.0
#include "features/mean_spectrum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "features/quarter_frames.h"

namespace veravox {
namespace {

constexpr float kPowerFloor = 1e-9f;  // below the noise of 16 bits
constexpr size_t kDecile = 10;        // one frame in so many is quieter than the second curve
constexpr size_t kReach = 16;         // bins on each side of the one that the median is for
constexpr size_t kSmoothed = 2 * kReach + 1;
constexpr size_t kPadded = 48;  // a whole number of registers

FeatureRecipe LongFrames(int fft_size, float input_gain) {
  FeatureRecipe recipe = QuarterFrames(fft_size, input_gain);
  recipe.bands = fft_size / 2;
  recipe.log_floor = kPowerFloor;
  recipe.layout = FeatureRecipe::Layout::kFramesBands;
  return recipe;
}

// The curve is mirrored at its ends, the outermost values included.
size_t Mirrored(size_t position, size_t size) {
  if (position < kReach) return kReach - 1 - position;
  position -= kReach;
  return position < size ? position : 2 * size - 1 - position;
}

// How many of the values are smaller.
size_t CountBelow(const std::array<float, kPadded>& sorted, float value) {
  int count = 0;
  for (const float other : sorted) count += other < value ? 1 : 0;
  return static_cast<size_t>(count);
}

// `curve` has at least kReach values.
void SubtractMedian(std::span<const float> curve, std::span<float> output) {
  const auto value_at = [&](size_t position) { return curve[Mirrored(position, curve.size())]; };
  std::array<float, kPadded> sorted;
  sorted.fill(std::numeric_limits<float>::infinity());
  for (size_t i = 0; i < kSmoothed; ++i) sorted[i] = value_at(i);
  std::sort(sorted.begin(), sorted.end());
  for (size_t bin = 0;; ++bin) {
    output[bin] = curve[bin] - sorted[kReach];
    if (bin + 1 == curve.size()) return;
    const float enters = value_at(bin + kSmoothed);
    float* const leaves = &sorted[CountBelow(sorted, value_at(bin))];
    float* const place = &sorted[CountBelow(sorted, enters)];
    if (place > leaves) {
      std::copy(leaves + 1, place, leaves);
      place[-1] = enters;
    } else {
      std::copy_backward(place, leaves, leaves + 1);
      *place = enters;
    }
  }
}

using Block = MeanSpectrum::Block;

// Puts a level of each bin where it belongs among those that are kept in ascending order; the largest moves
// out.
VERAVOX_INLINE void Insert(Block level, std::vector<Block>& kept) {
  for (Block& block : kept) {
    for (size_t i = 0; i < level.size(); ++i) {
      const float larger = std::max(block[i], level[i]);
      block[i] = std::min(block[i], level[i]);
      level[i] = larger;
    }
  }
}

// The curves of `width` neighbouring bins; `levels` are those of the first frame, `bins` before those of the
// next. Bin by bin would be simpler, but here a whole register of bins sorts at once.
VERAVOX_INLINE void Summarise(const float* levels, size_t frames, size_t bins, size_t width,
                              MeanSpectrum::Ordered& ordered, MeanSpectrum::Curves& curves) {
  const size_t rank = (frames - 1) / kDecile;
  const float frames_inverse = 1.0f / static_cast<float>(frames);
  Block none;
  none.fill(std::numeric_limits<float>::infinity());
  ordered.smallest.assign(rank + 1, none);
  ordered.negated_largest.assign(rank + 1, none);
  auto& [mean, quiet, loud, deviation] = curves;
  mean.fill(0.0f);
  deviation.fill(0.0f);
  for (size_t frame = 0; frame < frames; ++frame) {
    Block level{};
    std::copy_n(levels + frame * bins, width, level.begin());
    for (size_t i = 0; i < level.size(); ++i) mean[i] += level[i];
    Insert(level, ordered.smallest);
    for (float& value : level) value = -value;
    Insert(level, ordered.negated_largest);
  }
  for (float& value : mean) value *= frames_inverse;
  for (size_t frame = 0; frame < frames; ++frame) {
    Block level{};
    std::copy_n(levels + frame * bins, width, level.begin());
    for (size_t i = 0; i < level.size(); ++i) deviation[i] += (level[i] - mean[i]) * (level[i] - mean[i]);
  }
  for (float& value : deviation) value = std::sqrt(value * frames_inverse);
  quiet = ordered.smallest[rank];
  for (size_t i = 0; i < loud.size(); ++i) loud[i] = -ordered.negated_largest[rank][i];
}

void SummariseBaseline(const float* levels, size_t frames, size_t bins, size_t width,
                       MeanSpectrum::Ordered& ordered, MeanSpectrum::Curves& curves) {
  Summarise(levels, frames, bins, width, ordered, curves);
}

VERAVOX_TARGET_AVX2 void SummariseAvx2(const float* levels, size_t frames, size_t bins, size_t width,
                                       MeanSpectrum::Ordered& ordered, MeanSpectrum::Curves& curves) {
  Summarise(levels, frames, bins, width, ordered, curves);
}

}  // namespace

MeanSpectrum::MeanSpectrum(int fft_size, float input_gain, SimdLevel level)
    : fft_size_(static_cast<size_t>(fft_size)),
      bins_(fft_size_ / 2),
      spectrogram_(Spectrogram::Make(LongFrames(fft_size, input_gain), level)),
      summarise_(level >= SimdLevel::kAvx2 ? SummariseAvx2 : SummariseBaseline),
      curves_(kCurves * bins_) {}

void MeanSpectrum::Compute(std::span<const float> samples, std::span<float> output) {
  samples = RepeatedTo(fft_size_, samples, repeated_);
  const size_t frames = spectrogram_->FrameCount(samples.size());
  levels_.resize(frames * bins_);
  spectrogram_->Compute(samples, levels_);
  for (size_t bin = 0; bin < bins_; bin += kBlock) {
    const size_t width = std::min(kBlock, bins_ - bin);
    Curves made;
    summarise_(&levels_[bin], frames, bins_, width, ordered_, made);
    for (size_t curve = 0; curve < kCurves; ++curve) {
      std::copy_n(made[curve].begin(), width, &curves_[curve * bins_ + bin]);
    }
  }
  // One broken sample is in every bin, and what is not a number has no order.
  if (!std::isfinite(
          std::accumulate(curves_.begin(), curves_.begin() + static_cast<std::ptrdiff_t>(bins_), 0.0f))) {
    std::fill(output.begin(), output.end(), std::numeric_limits<float>::quiet_NaN());
    return;
  }
  for (size_t start = 0; start < output.size(); start += bins_) {
    SubtractMedian(std::span(curves_).subspan(start, bins_), output.subspan(start, bins_));
  }
}

}  // namespace veravox
