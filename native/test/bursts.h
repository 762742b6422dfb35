// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "prepare/model_input.h"

namespace veravox::test {

inline ModelInputSpec SmallInputs() {
  ModelInputSpec spec;
  spec.recipe.kind = FeatureRecipe::Kind::kWaveform;
  spec.window_samples = 48000;  // two inputs per window
  spec.hop_samples = 32000;
  return spec;
}

// Words and pauses of different lengths: bursts of a buzz with some noise.
inline std::vector<int16_t> Bursts(double seconds, int rate_hz) {
  std::mt19937 random(7);
  std::vector<int16_t> samples(static_cast<size_t>(seconds * rate_hz));
  for (size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / rate_hz;
    const bool speaks = std::fmod(t, 29.0) < 17.0 && std::fmod(t, 1.7) < 1.2;
    double value = 20.0 * (static_cast<double>(random() % 2000) / 1000.0 - 1.0);
    if (speaks) {
      for (int harmonic = 1; harmonic < 20; ++harmonic)
        value += 9000.0 / harmonic * std::sin(2.0 * M_PI * harmonic * (120.0 + 30.0 * std::sin(7.0 * t)) * t);
    }
    samples[i] = static_cast<int16_t>(std::clamp(value, -32768.0, 32767.0));
  }
  return samples;
}

}  // namespace veravox::test
