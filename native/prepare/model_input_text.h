// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "prepare/model_input.h"

namespace veravox {

// Reads a ModelInputSpec: a recipe as in features/recipe_text.h, plus the fields window_samples, hop_samples
// and short_window. Throws as ParseRecipe does.
ModelInputSpec ParseModelInput(std::string_view text);

}  // namespace veravox
