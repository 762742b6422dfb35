// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "features/feature_recipe.h"

namespace veravox {

// Throws StageError (kInternal) for an invalid recipe; the sentence names the field and its value.
void ValidateRecipe(const FeatureRecipe& recipe);

}  // namespace veravox
