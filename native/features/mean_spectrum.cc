// SPDX-License-Identifier: Apache-2.0
#include "features/mean_spectrum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace veravox {
namespace {

constexpr int kHopsPerFrame = 4;
constexpr float kPowerFloor = 1e-9f;  // below the noise of 16 bits
constexpr size_t kQuietShare = 10;    // one frame in so many is quieter than the second curve
constexpr size_t kReach = 16;         // bins on each side of the one that the median is for

FeatureRecipe LongFrames(int fft_size, float input_gain) {
  FeatureRecipe recipe;
  recipe.fft_size = recipe.window_length = fft_size;
  recipe.hop_length = fft_size / kHopsPerFrame;
  recipe.input_gain = input_gain;
  recipe.scale = FeatureRecipe::Scale::kLinear;
  recipe.bands = fft_size / 2;
  recipe.log_floor = kPowerFloor;
  return recipe;
}

// The curve is mirrored at its ends, the outermost values included.
size_t Mirrored(size_t position, size_t size) {
  if (position < kReach) return kReach - 1 - position;
  position -= kReach;
  return position < size ? position : 2 * size - 1 - position;
}

// `curve` has at least kReach values.
void SubtractMedian(std::span<const float> curve, std::span<float> output) {
  const auto value_at = [&](size_t position) { return curve[Mirrored(position, curve.size())]; };
  std::array<float, 2 * kReach + 1> sorted;
  for (size_t i = 0; i < sorted.size(); ++i) sorted[i] = value_at(i);
  std::sort(sorted.begin(), sorted.end());
  for (size_t bin = 0;; ++bin) {
    output[bin] = curve[bin] - sorted[kReach];
    if (bin + 1 == curve.size()) return;
    const float leaves = value_at(bin);
    const float enters = value_at(bin + sorted.size());
    auto place = std::lower_bound(sorted.begin(), sorted.end(), leaves);
    for (; place + 1 != sorted.end() && place[1] < enters; ++place) place[0] = place[1];
    for (; place != sorted.begin() && place[-1] > enters; --place) place[0] = place[-1];
    *place = enters;
  }
}

}  // namespace

MeanSpectrum::MeanSpectrum(int fft_size, float input_gain)
    : fft_size_(static_cast<size_t>(fft_size)),
      bins_(fft_size_ / 2),
      spectrogram_(Spectrogram::Make(LongFrames(fft_size, input_gain))),
      curve_(bins_),
      quiet_curve_(bins_) {}

void MeanSpectrum::Compute(std::span<const float> samples, std::span<float> output) {
  if (samples.size() < fft_size_) {
    repeated_.resize(fft_size_);
    for (size_t i = 0; i < fft_size_; ++i) repeated_[i] = samples[i % samples.size()];
    samples = repeated_;
  }
  const size_t frames = spectrogram_->FrameCount(samples.size());
  levels_.resize(bins_ * frames);
  spectrogram_->Compute(samples, levels_);
  float sum_of_all = 0.0f;
  for (size_t bin = 0; bin < bins_; ++bin) {
    const auto first = levels_.begin() + static_cast<std::ptrdiff_t>(bin * frames);
    const auto last = first + static_cast<std::ptrdiff_t>(frames);
    curve_[bin] = std::accumulate(first, last, 0.0f) / static_cast<float>(frames);
    sum_of_all += curve_[bin];
  }
  // One broken sample is in every bin, and what is not a number has no order.
  if (!std::isfinite(sum_of_all)) {
    std::fill(output.begin(), output.end(), std::numeric_limits<float>::quiet_NaN());
    return;
  }
  for (size_t bin = 0; bin < bins_; ++bin) {
    const auto first = levels_.begin() + static_cast<std::ptrdiff_t>(bin * frames);
    const auto quiet = first + static_cast<std::ptrdiff_t>((frames - 1) / kQuietShare);
    std::nth_element(first, quiet, first + static_cast<std::ptrdiff_t>(frames));
    quiet_curve_[bin] = *quiet;
  }
  SubtractMedian(curve_, output.first(bins_));
  SubtractMedian(quiet_curve_, output.subspan(bins_));
}

}  // namespace veravox
