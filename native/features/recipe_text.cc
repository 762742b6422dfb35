// SPDX-License-Identifier: Apache-2.0
#include "features/recipe_text.h"

#include <string>

#include "features/field_text.h"

namespace veravox {
void ReadRecipeField(FeatureRecipe& recipe, std::string_view field, std::string_view value) {
  using Recipe = FeatureRecipe;
  const auto number = [&](auto& target) { ReadNumber(field, value, target); };
  const auto flag = [&](bool& target) {
    ReadChoice(field, value, target, {{"true", true}, {"false", false}});
  };
  if (field == "kind") {
    ReadChoice(field, value, recipe.kind,
               {{"waveform", Recipe::Kind::kWaveform}, {"spectrogram", Recipe::Kind::kSpectrogram}});
  } else if (field == "window") {
    ReadChoice(field, value, recipe.window,
               {{"hann", Recipe::Window::kHann},
                {"hamming", Recipe::Window::kHamming},
                {"povey", Recipe::Window::kPovey},
                {"rectangular", Recipe::Window::kRectangular}});
  } else if (field == "scale") {
    ReadChoice(field, value, recipe.scale,
               {{"linear", Recipe::Scale::kLinear}, {"mel", Recipe::Scale::kMel}});
  } else if (field == "mel_formula") {
    ReadChoice(field, value, recipe.mel_formula,
               {{"htk", Recipe::MelFormula::kHtk}, {"slaney", Recipe::MelFormula::kSlaney}});
  } else if (field == "mel_norm") {
    ReadChoice(field, value, recipe.mel_norm,
               {{"none", Recipe::MelNorm::kNone}, {"slaney", Recipe::MelNorm::kSlaney}});
  } else if (field == "log") {
    ReadChoice(field, value, recipe.log,
               {{"none", Recipe::Log::kNone},
                {"natural", Recipe::Log::kNatural},
                {"log10", Recipe::Log::kLog10},
                {"decibel", Recipe::Log::kDecibel}});
  } else if (field == "normalisation") {
    ReadChoice(field, value, recipe.normalisation,
               {{"none", Recipe::Normalisation::kNone},
                {"mean", Recipe::Normalisation::kMean},
                {"mean_variance", Recipe::Normalisation::kMeanVariance}});
  } else if (field == "edges") {
    ReadChoice(field, value, recipe.edges,
               {{"mirrored", Recipe::Edges::kMirrored}, {"zeros", Recipe::Edges::kZeros}});
  } else if (field == "layout") {
    ReadChoice(
        field, value, recipe.layout,
        {{"bands_frames", Recipe::Layout::kBandsFrames}, {"frames_bands", Recipe::Layout::kFramesBands}});
  } else if (field == "sample_rate_hz") {
    number(recipe.sample_rate_hz);
  } else if (field == "fft_size") {
    number(recipe.fft_size);
  } else if (field == "window_length") {
    number(recipe.window_length);
  } else if (field == "hop_length") {
    number(recipe.hop_length);
  } else if (field == "periodic_window") {
    flag(recipe.periodic_window);
  } else if (field == "centred") {
    flag(recipe.centred);
  } else if (field == "pre_emphasis") {
    number(recipe.pre_emphasis);
  } else if (field == "remove_dc_offset") {
    flag(recipe.remove_dc_offset);
  } else if (field == "audible_only") {
    flag(recipe.audible_only);
  } else if (field == "input_gain") {
    number(recipe.input_gain);
  } else if (field == "bands") {
    number(recipe.bands);
  } else if (field == "first_bin") {
    number(recipe.first_bin);
  } else if (field == "fmin_hz") {
    number(recipe.fmin_hz);
  } else if (field == "fmax_hz") {
    number(recipe.fmax_hz);
  } else if (field == "triangles_on_mel_axis") {
    flag(recipe.triangles_on_mel_axis);
  } else if (field == "power") {
    number(recipe.power);
  } else if (field == "log_floor") {
    number(recipe.log_floor);
  } else if (field == "dynamic_range_db") {
    number(recipe.dynamic_range_db);
  } else if (field == "normalise_globally") {
    flag(recipe.normalise_globally);
  } else if (field == "mean_spectrum_fft_sizes") {
    ReadNumbers(field, value, recipe.mean_spectrum_fft_sizes);
  } else if (field == "phase_coherence_fft_sizes") {
    ReadNumbers(field, value, recipe.phase_coherence_fft_sizes);
  } else {
    throw StageError(ErrorCode::kInternal,
                     "Feature recipe: there is no field \"" + std::string(field) + "\".");
  }
}

FeatureRecipe ParseRecipe(std::string_view text) {
  FeatureRecipe recipe;
  ReadFields(text, [&](auto field, auto value) { ReadRecipeField(recipe, field, value); });
  return recipe;
}

}  // namespace veravox
