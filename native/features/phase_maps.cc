// SPDX-License-Identifier: Apache-2.0
#include "features/phase_maps.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace veravox {
namespace {

using Turn = PhaseMaps::Turn;

// A bin with less power has no phase worth the name. Its maps are then near 0.
constexpr float kSmallestPower = 1e-20f;

Turn TurnOf(double turns) {
  const double angle = 2.0 * std::numbers::pi * (turns - std::floor(turns));
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

// What the steps of one band are weighed by.
struct Levels {
  const float* values;
  float largest;
  float per_range;
};

struct Parts {
  const float* real;
  const float* imaginary;
};

struct Maps {
  float* cosines;
  float* sines;
};

VERAVOX_INLINE void MakeUnit(std::span<float> real, std::span<float> imaginary) {
  for (size_t i = 0; i < real.size(); ++i) {
    const float power = real[i] * real[i] + imaginary[i] * imaginary[i];
    const float scale = 1.0f / std::sqrt(power < kSmallestPower ? kSmallestPower : power);
    real[i] *= scale;
    imaginary[i] *= scale;
  }
}

// The numbers of `now` times those of `before`, conjugated, turned and weighed, from frame `first` on.
VERAVOX_INLINE void TakeSteps(size_t first, size_t frames, Parts now, Parts before, Turn turn, Levels levels,
                              Maps maps) {
  float* __restrict cosines = maps.cosines;
  float* __restrict sines = maps.sines;
  for (size_t frame = first; frame < frames; ++frame) {
    const float re = now.real[frame] * before.real[frame] + now.imaginary[frame] * before.imaginary[frame];
    const float im = now.imaginary[frame] * before.real[frame] - now.real[frame] * before.imaginary[frame];
    const float level = 1.0f + (levels.values[frame] - levels.largest) * levels.per_range;
    const float weight = level < 0.0f ? 0.0f : level;
    cosines[frame] = (re * turn.cosine - im * turn.sine) * weight;
    sines[frame] = (re * turn.sine + im * turn.cosine) * weight;
  }
}

VERAVOX_INLINE void MakeMaps(std::span<const Turn> advance, Turn delay, std::span<float> real,
                             std::span<float> imaginary, std::span<const float> levels, float range,
                             std::span<float> maps) {
  MakeUnit(real, imaginary);
  const size_t size = levels.size();
  const size_t frames = size / advance.size();
  const float largest = *std::max_element(levels.begin(), levels.end());
  for (size_t band = 0; band < advance.size(); ++band) {
    const size_t row = band * frames;
    const Parts below{&real[row], &imaginary[row]};
    const Parts own{below.real + frames, below.imaginary + frames};
    const Levels weighed{&levels[row], largest, 1.0f / range};
    const Maps over_time{&maps[row], &maps[size + row]};
    const Maps over_frequency{&maps[2 * size + row], &maps[3 * size + row]};
    over_time.cosines[0] = 0.0f;
    over_time.sines[0] = 0.0f;
    TakeSteps(1, frames, own, {own.real - 1, own.imaginary - 1}, advance[band], weighed, over_time);
    TakeSteps(0, frames, own, below, delay, weighed, over_frequency);
  }
}

void MakeMapsBaseline(std::span<const Turn> advance, Turn delay, std::span<float> real,
                      std::span<float> imaginary, std::span<const float> levels, float range,
                      std::span<float> maps) {
  MakeMaps(advance, delay, real, imaginary, levels, range, maps);
}

VERAVOX_TARGET_AVX2 void MakeMapsAvx2(std::span<const Turn> advance, Turn delay, std::span<float> real,
                                      std::span<float> imaginary, std::span<const float> levels, float range,
                                      std::span<float> maps) {
  MakeMaps(advance, delay, real, imaginary, levels, range, maps);
}

}  // namespace

PhaseMaps::PhaseMaps(const FeatureRecipe& recipe)
    : delay_(TurnOf(0.5 * (recipe.window_length - 1) / recipe.fft_size)) {
  for (int band = 0; band < recipe.bands; ++band) {
    const double bin = recipe.first_bin + band;
    advance_.push_back(TurnOf(-bin * recipe.hop_length / recipe.fft_size));
  }
}

void PhaseMaps::Compute(std::span<float> real, std::span<float> imaginary, std::span<const float> levels,
                        float range, std::span<float> maps) const {
  static const auto make = BestSimdLevel() == SimdLevel::kBaseline ? MakeMapsBaseline : MakeMapsAvx2;
  make(advance_, delay_, real, imaginary, levels, range, maps);
}

}  // namespace veravox
