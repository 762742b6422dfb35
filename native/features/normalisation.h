// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "features/feature_recipe.h"

namespace veravox {

// Subtracts the mean of `values` and, for kMeanVariance, divides by sqrt(variance + 1e-7), in place. The
// variance is that of the values at hand (divided by their number, not by one less).
void NormaliseTogether(FeatureRecipe::Normalisation normalisation, std::span<float> values);

// Raises everything more than `range` below the largest of `values` to that floor, then works like
// NormaliseTogether with the mean and variance of the values above the floor.
void NormaliseWithinRange(FeatureRecipe::Normalisation normalisation, float range, std::span<float> values);

// Applies NormaliseTogether to each band of `values` (bands * frames elements in the given layout).
void NormaliseBands(FeatureRecipe::Normalisation normalisation, FeatureRecipe::Layout layout, size_t bands,
                    std::span<float> values);

}  // namespace veravox
