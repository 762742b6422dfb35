// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "features/feature_extractor.h"
#include "features/feature_recipe.h"

namespace veravox {

// A model's input from a window of audio.
struct ModelInputSpec {
  // Fills audio shorter than window_samples: with itself, over and over, or with zeros. kRepeatSound repeats
  // the part between the first and the last sample within 60 dB of the loudest, even if the audio is long
  // enough, so that digital silence before and after the sound never counts.
  enum class ShortWindow { kRepeat, kRepeatSound, kZeroPad };

  FeatureRecipe recipe;
  int64_t window_samples = 80000;  // samples per model input
  int64_t hop_samples = 80000;     // from one input of an analysis window to the next
  ShortWindow short_window = ShortWindow::kRepeat;
};

// Makes the inputs of one model out of one analysis window. Not thread-safe.
class ModelInputMaker {
 public:
  explicit ModelInputMaker(const ModelInputSpec& spec);

  // Floats per input; the same for every window.
  size_t input_size() const { return input_size_; }
  // Inputs from a window of `samples` samples: one every hop_samples, the last sliding back to end with
  // the window.
  int InputCount(int64_t samples) const;
  // `output` must have input_size() elements; all are written.
  void Make(std::span<const float> window, int input_index, std::span<float> output);

 private:
  ModelInputSpec spec_;
  FeatureExtractor extractor_;
  size_t input_size_;
  std::vector<float> filled_up_;
};

}  // namespace veravox
