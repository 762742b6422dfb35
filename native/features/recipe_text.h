// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "features/feature_recipe.h"

namespace veravox {

// Reads a recipe from lines of `field=value`. Fields are named as in FeatureRecipe, absent ones keep its
// defaults. Values: whole numbers, decimal numbers, true|false, or one of the words
//   kind           waveform | spectrogram
//   window         hann | hamming | povey | rectangular
//   scale          linear | mel
//   mel_formula    htk | slaney
//   mel_norm       none | slaney
//   log            none | natural | log10 | decibel
//   normalisation  none | mean | mean_variance
//   edges          mirrored | zeros
//   layout         bands_frames | frames_bands
// Throws StageError (kInternal) that names the field for an unknown field or a value that cannot be read;
// whether the recipe makes sense is checked by FeatureExtractor.
FeatureRecipe ParseRecipe(std::string_view text);

}  // namespace veravox
