// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "features/feature_recipe.h"

namespace veravox {

// Weights that sum the bins of a spectrum into bands. Each band covers a run of bins, so only their weights
// are kept.
struct FilterBank {
  struct Band {
    int first_bin = 0;
    int bins = 0;          // 0: no bin lies within the triangle, the band is always 0
    int first_weight = 0;  // index into `weights`
  };
  std::vector<Band> bands;
  std::vector<float> weights;
};

// The recipe is valid (see ValidateRecipe).
FilterBank MakeFilterBank(const FeatureRecipe& recipe);

}  // namespace veravox
