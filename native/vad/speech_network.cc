// SPDX-License-Identifier: Apache-2.0
#include "vad/speech_network.h"

#include "simd/lanes.h"

namespace veravox {
namespace {

// Per input one row of weights: for all units those of the reset gate, the update gate and the candidate.
// Only the candidate has separate biases of input and recurrence, since the reset gate comes between.
constexpr size_t kGateOutputs = 3 * SpeechNetwork::kUnits;
struct Weights {
  alignas(64) float input[SpeechNetwork::kInputs][kGateOutputs];
  alignas(64) float recurrent[SpeechNetwork::kUnits][kGateOutputs];
  alignas(64) float bias[kGateOutputs];
  alignas(64) float recurrent_candidate_bias[SpeechNetwork::kUnits];
  alignas(64) float output[SpeechNetwork::kStepFrames][SpeechNetwork::kUnits];
  float output_bias[SpeechNetwork::kStepFrames];
};

constexpr Weights kWeights = {
#include "vad/speech_network_weights.inc"
};

template <int kLanes>
using Vector = typename LaneTypes<kLanes>::Float;

// 1 / (1 + exp(-x)) to about six digits. exp(y) = 2^n exp(r) with |r| <= log(2) / 2, where a short Taylor
// series suffices.
template <int kLanes>
VERAVOX_INLINE Vector<kLanes> Sigmoid(const Vector<kLanes>& x) {
  using Int = typename LaneTypes<kLanes>::Int;
  constexpr float kLog2e = 1.44269504f;
  constexpr float kLn2 = 0.693147181f;
  constexpr float kLimit = 30.0f;          // far into saturation, and far from overflow of 2^n
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it leaves no bits for a fraction
  const Vector<kLanes> limit = Vector<kLanes>{} + kLimit;
  Vector<kLanes> y = -x;
  y = y > limit ? limit : y;
  y = y < -limit ? -limit : y;
  const Vector<kLanes> rounded = y * kLog2e + kRounder;
  const Vector<kLanes> r = y - (rounded - kRounder) * kLn2;
  const Vector<kLanes> exp_r =
      1.0f + r * (1.0f + r * (1.0f / 2 + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r / 720)))));
  const Int exp_y = reinterpret_cast<Int>(exp_r) + (reinterpret_cast<Int>(rounded) << 23);
  return 1.0f / (1.0f + reinterpret_cast<Vector<kLanes>>(exp_y));
}

template <int kLanes>
VERAVOX_INLINE Vector<kLanes> Tanh(const Vector<kLanes>& x) {
  return 2.0f * Sigmoid<kLanes>(2.0f * x) - 1.0f;
}

// Adds value * row to the sums, unit by unit.
template <int kLanes>
VERAVOX_INLINE void Accumulate(const float* row, float value, Vector<kLanes>* sums) {
  for (size_t v = 0; v < SpeechNetwork::kUnits / kLanes; ++v) {
    sums[v] += LoadLanes<kLanes>(row + v * kLanes) * value;
  }
}

template <int kLanes>
VERAVOX_INLINE void StepNetwork(const float* inputs, float* state, float* outputs) {
  constexpr size_t kUnits = SpeechNetwork::kUnits;
  constexpr size_t kVectors = kUnits / kLanes;
  Vector<kLanes> reset[kVectors], update[kVectors], candidate[kVectors], recurrence[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    reset[v] = LoadLanes<kLanes>(kWeights.bias + v * kLanes);
    update[v] = LoadLanes<kLanes>(kWeights.bias + kUnits + v * kLanes);
    candidate[v] = LoadLanes<kLanes>(kWeights.bias + 2 * kUnits + v * kLanes);
    recurrence[v] = LoadLanes<kLanes>(kWeights.recurrent_candidate_bias + v * kLanes);
  }
  for (size_t i = 0; i < SpeechNetwork::kInputs; ++i) {
    Accumulate<kLanes>(kWeights.input[i], inputs[i], reset);
    Accumulate<kLanes>(kWeights.input[i] + kUnits, inputs[i], update);
    Accumulate<kLanes>(kWeights.input[i] + 2 * kUnits, inputs[i], candidate);
  }
  for (size_t i = 0; i < kUnits; ++i) {
    Accumulate<kLanes>(kWeights.recurrent[i], state[i], reset);
    Accumulate<kLanes>(kWeights.recurrent[i] + kUnits, state[i], update);
    Accumulate<kLanes>(kWeights.recurrent[i] + 2 * kUnits, state[i], recurrence);
  }
  Vector<kLanes> sums[SpeechNetwork::kStepFrames] = {};
  for (size_t v = 0; v < kVectors; ++v) {
    const Vector<kLanes> kept = Sigmoid<kLanes>(update[v]);
    const Vector<kLanes> fresh = Tanh<kLanes>(candidate[v] + Sigmoid<kLanes>(reset[v]) * recurrence[v]);
    const Vector<kLanes> next = fresh + kept * (LoadLanes<kLanes>(state + v * kLanes) - fresh);
    StoreLanes<kLanes>(next, state + v * kLanes);
    for (size_t frame = 0; frame < SpeechNetwork::kStepFrames; ++frame) {
      sums[frame] += next * LoadLanes<kLanes>(kWeights.output[frame] + v * kLanes);
    }
  }
  for (size_t frame = 0; frame < SpeechNetwork::kStepFrames; ++frame) {
    outputs[frame] = kWeights.output_bias[frame];
    for (size_t lane = 0; lane < kLanes; ++lane) outputs[frame] += sums[frame][lane];
  }
}

void StepBaseline(const float* inputs, float* state, float* outputs) {
  StepNetwork<4>(inputs, state, outputs);
}

VERAVOX_TARGET_AVX2 void StepAvx2(const float* inputs, float* state, float* outputs) {
  StepNetwork<8>(inputs, state, outputs);
}

VERAVOX_TARGET_AVX512 void StepAvx512(const float* inputs, float* state, float* outputs) {
  StepNetwork<16>(inputs, state, outputs);
}

}  // namespace

SpeechNetwork::SpeechNetwork(SimdLevel level)
    : kernel_(level == SimdLevel::kAvx512 ? StepAvx512
              : level == SimdLevel::kAvx2 ? StepAvx2
                                          : StepBaseline) {}

std::array<float, SpeechNetwork::kStepFrames> SpeechNetwork::Step(std::span<const float, kInputs> inputs) {
  std::array<float, kStepFrames> outputs;
  kernel_(inputs.data(), state_.data(), outputs.data());
  return outputs;
}

void SpeechNetwork::Reset() { state_ = {}; }

}  // namespace veravox
