// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "features/feature_recipe.h"
#include "simd/simd_level.h"

namespace veravox {

// The bands of every frame of a window of audio, logarithm included, normalisation not. Not thread-safe.
class Spectrogram {
 public:
  // Works on as many frames at once as the level has lanes. The recipe is valid (see ValidateRecipe); the
  // processor supports `level`.
  static std::unique_ptr<Spectrogram> Make(const FeatureRecipe& recipe, SimdLevel level = BestSimdLevel());
  virtual ~Spectrogram() = default;

  size_t FrameCount(size_t samples) const;
  // `output` has FrameCount(samples.size()) * recipe.bands elements, in the recipe's layout.
  virtual void Compute(std::span<const float> samples, std::span<float> output) = 0;

 protected:
  explicit Spectrogram(const FeatureRecipe& recipe) : recipe_(recipe) {}

  const FeatureRecipe recipe_;
};

}  // namespace veravox
