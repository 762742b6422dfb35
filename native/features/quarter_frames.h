// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "features/feature_recipe.h"

namespace veravox {

// Hops per frame of the curves that follow the bands.
constexpr int kHopsPerFrame = 4;

inline FeatureRecipe QuarterFrames(int fft_size, float input_gain) {
  FeatureRecipe recipe;
  recipe.fft_size = recipe.window_length = fft_size;
  recipe.hop_length = fft_size / kHopsPerFrame;
  recipe.input_gain = input_gain;
  recipe.scale = FeatureRecipe::Scale::kLinear;
  return recipe;
}

// The lowest bin that the curves use.
inline size_t FirstBin(int fft_size, int sample_rate_hz, bool audible_only) {
  if (!audible_only) return 0;
  return static_cast<size_t>(
      std::ceil(kLowestAudibleHz * static_cast<float>(fft_size) / static_cast<float>(sample_rate_hz)));
}

// Fills the bins of `curve` below `first` with a mirror image of those above: the networks see a familiar
// texture there, and nothing of the real bins.
inline void MirrorBelow(size_t first, std::span<float> curve) {
  for (size_t i = 0; i < first; ++i) curve[first - 1 - i] = curve[first + i];
}

// `samples`, which must not be empty; if fewer than `least`, repeated to that length in `repeated`.
inline std::span<const float> RepeatedTo(size_t least, std::span<const float> samples,
                                         std::vector<float>& repeated) {
  if (samples.size() >= least) return samples;
  repeated.resize(least);
  for (size_t i = 0; i < least; ++i) repeated[i] = samples[i % samples.size()];
  return repeated;
}

}  // namespace veravox
