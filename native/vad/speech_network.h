// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "saved_state.h"
#include "simd/simd_level.h"

namespace veravox {

// A recurrent network (one layer of gated recurrent units, one linear output per frame) on two frames of
// SpeechFeatures per step. Trained by training/vad/train.py, which writes the weights.
class SpeechNetwork {
 public:
  static constexpr size_t kStepFrames = 2;
  static constexpr size_t kInputs = 48;
  static constexpr size_t kUnits = 32;
  // A step's outputs concern the frames of this many steps before: the network hears 80 ms more before it
  // decides.
  static constexpr size_t kDelaySteps = 4;

  explicit SpeechNetwork(SimdLevel level = BestSimdLevel());

  // Log odds of speech for the two frames of the step kDelaySteps ago; meaningless during the first
  // kDelaySteps steps of a stream. `inputs`: finite.
  std::array<float, kStepFrames> Step(std::span<const float, kInputs> inputs);
  // Starts another stream with the next step.
  void Reset();
  void Transfer(SavedState& state) { state.Transfer(std::span<float>(state_)); }

 private:
  using Kernel = void (*)(const float* inputs, float* state, float* outputs);

  Kernel kernel_;
  alignas(64) std::array<float, kUnits> state_{};
};

}  // namespace veravox
