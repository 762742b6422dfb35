// SPDX-License-Identifier: Apache-2.0
#include "features/spectrogram_plan.h"

#include <cmath>
#include <numbers>

#include "features/window_function.h"

namespace veravox {
namespace {

float LogScale(FeatureRecipe::Log log) {
  switch (log) {
    case FeatureRecipe::Log::kLog10:
      return std::numbers::log10e_v<float>;
    case FeatureRecipe::Log::kDecibel:
      return 10.0f * std::numbers::log10e_v<float>;
    case FeatureRecipe::Log::kNatural:
    case FeatureRecipe::Log::kNone:
      return 1.0f;
  }
  return 1.0f;
}

}  // namespace

SpectrogramPlan::SpectrogramPlan(const FeatureRecipe& recipe)
    : window_length(recipe.window_length),
      remove_dc_offset(recipe.remove_dc_offset),
      pre_emphasis(recipe.pre_emphasis),
      fft(recipe.fft_size / 2),
      magnitude(recipe.power == 1.0f),
      filter_bank(MakeFilterBank(recipe)),
      logarithmic(recipe.log != FeatureRecipe::Log::kNone),
      log_floor(recipe.log_floor),
      log_scale(LogScale(recipe.log)) {
  for (const double value : MakeWindow(recipe.window, recipe.window_length, recipe.periodic_window)) {
    window.push_back(static_cast<float>(0.5 * recipe.input_gain * value));
  }
  for (int k = 0; k <= recipe.fft_size / 4; ++k) {
    const double angle = -2.0 * std::numbers::pi * k / recipe.fft_size;
    split_twiddles.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
  }
}

}  // namespace veravox
