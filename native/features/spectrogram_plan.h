// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "features/feature_recipe.h"
#include "features/filter_bank.h"
#include "features/lane_fft.h"

namespace veravox {

// Everything about a spectrogram that does not depend on the audio.
struct SpectrogramPlan {
  explicit SpectrogramPlan(const FeatureRecipe& recipe);

  int window_length;
  bool remove_dc_offset;
  float pre_emphasis;
  std::vector<float> window;  // with the recipe's gain, and the factor 1/2 of the real FFT
  // A real transform of 2n samples is a complex one of n: even samples are real parts, odd ones imaginary
  // parts.
  LaneFftPlan fft;
  std::vector<LaneFftPlan::Factor> split_twiddles;  // exp(-2 pi i k / fft_size), k up to fft_size / 4
  bool magnitude;
  FilterBank filter_bank;
  bool logarithmic;
  float log_floor;
  float log_scale;  // multiplies the natural logarithm
};

}  // namespace veravox
