// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "features/feature_recipe.h"

namespace veravox {

// `length` coefficients of the window; periodic: the first `length` of a symmetric window of length + 1.
std::vector<double> MakeWindow(FeatureRecipe::Window window, int length, bool periodic);

}  // namespace veravox
