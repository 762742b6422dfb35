// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "features/feature_recipe.h"
#include "simd/simd_level.h"

namespace veravox {

// How the phase of a spectrogram moves over time and over frequency. Of both steps the cosine and the sine,
// each times the level of the bin: 1 at the loudest one of the window, 0 at the end of the dynamic range.
// Order: cosine and sine over time, cosine and sine over frequency. The first frame has no step over time: 0.
// Thread-safe.
class PhaseMaps {
 public:
  static constexpr size_t kMaps = 4;

  // A unit number of the complex plane.
  struct Turn {
    float cosine;
    float sine;
  };

  // `recipe` has phase (see ValidateRecipe).
  explicit PhaseMaps(const FeatureRecipe& recipe);

  // `real` and `imaginary` are the parts of the spectrum, bands + 1 rows of one number per frame: one bin
  // below the first band, then the bands. They are destroyed. `levels` are the logarithms of the bands, of
  // which `range` is as much as the dynamic range. `maps` gets kMaps times bands * frames numbers.
  void Compute(std::span<float> real, std::span<float> imaginary, std::span<const float> levels, float range,
               std::span<float> maps) const;

 private:
  // What a steady tone in the middle of its bin does from one frame to the next, turned back; per band.
  std::vector<Turn> advance_;
  // What a click in the middle of the frame does from one bin to the next, turned back.
  Turn delay_;
};

}  // namespace veravox
