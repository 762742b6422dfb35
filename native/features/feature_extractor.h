// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "features/feature_recipe.h"

namespace veravox {

// Turns one window of audio into a model's input. Plans and tables are made once, at construction; Compute
// allocates only for the first window of a length. Not thread-safe: it owns scratch memory.
class FeatureExtractor {
 public:
  // Throws StageError (kInternal) for an invalid recipe; the sentence names the field.
  explicit FeatureExtractor(const FeatureRecipe& recipe);
  ~FeatureExtractor();
  FeatureExtractor(const FeatureExtractor&) = delete;
  FeatureExtractor& operator=(const FeatureExtractor&) = delete;

  // Frames from `samples` samples (waveform: 1).
  size_t FrameCount(size_t samples) const;
  // Floats that Compute writes for `samples` samples.
  size_t OutputSize(size_t samples) const;
  // `output` must have OutputSize(samples.size()) elements; all are written.
  void Compute(std::span<const float> samples, std::span<float> output);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace veravox
