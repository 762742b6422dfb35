// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "features/feature_recipe.h"

namespace veravox {

// Reads a recipe from its text form (see field_text.h). Fields and words are those of `features` in the
// manifest (docs/models.md), and sample_rate_hz; absent fields keep the defaults of FeatureRecipe. Throws
// StageError (kInternal) that names the field for an unknown field or a value that cannot be read; whether
// the recipe makes sense is checked by FeatureExtractor.
FeatureRecipe ParseRecipe(std::string_view text);

// Reads one field of the text form.
void ReadRecipeField(FeatureRecipe& recipe, std::string_view field, std::string_view value);

}  // namespace veravox
