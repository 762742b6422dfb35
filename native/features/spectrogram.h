// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "features/feature_recipe.h"
#include "simd_level.h"

namespace veravox {

// The bands of every frame of a window of audio, logarithm included, normalisation not. Not thread-safe.
class Spectrogram {
 public:
  // The recipe is valid (see ValidateRecipe); `level` is one that the processor has.
  explicit Spectrogram(const FeatureRecipe& recipe, SimdLevel level = BestSimdLevel());
  ~Spectrogram();
  Spectrogram(const Spectrogram&) = delete;
  Spectrogram& operator=(const Spectrogram&) = delete;

  size_t FrameCount(size_t samples) const;
  // `output` has FrameCount(samples.size()) * recipe.bands elements, in the recipe's layout.
  void Compute(std::span<const float> samples, std::span<float> output);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace veravox
