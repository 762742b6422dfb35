// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "resample/kaiser_low_pass.h"
#include "saved_state.h"
#include "simd/simd_level.h"

namespace veravox {

// Changes a sample rate by up / down with one low-pass filter. Output n stands at the time of input n * down
// / up, and the first output is number 0; samples are counted as in Halver.
class PolyphaseFilter {
 public:
  struct Ratio {
    int64_t up;
    int64_t down;
  };

  // first_input is the number, 0 or negative, of the first sample to be pushed.
  static std::unique_ptr<PolyphaseFilter> Make(Ratio ratio, const KaiserLowPass& low_pass,
                                               int64_t first_input, SimdLevel level);
  virtual ~PolyphaseFilter() = default;

  // Appends all samples that can be computed so far.
  void Push(std::span<const float> input, std::vector<float>& output);
  // Forgets the stream.
  void Reset();
  void Transfer(SavedState& state);

 protected:
  // Taps are handled in blocks of this many.
  static constexpr int64_t kBlock = 8;

  PolyphaseFilter(Ratio ratio, const KaiserLowPass& low_pass, int64_t first_input, SimdLevel level);

  // For each phase 0, 1 / phases, ..., 1 (phases + 1 rows): the weights of taps_ samples around an output at
  // that fraction between the two in the middle.
  std::vector<float> PhaseWeights(int64_t phases) const;

  // Computes all outputs that input_ suffices for, advances next_ and returns their number. `output` has room
  // for OutputBound() samples. One function per level, since each is compiled for its instructions.
  virtual size_t FilterBaseline(float* output) = 0;
  virtual size_t FilterAvx2(float* output) = 0;
  // Goes back to output 0.
  virtual void Rewind() = 0;
  virtual void TransferPhase(SavedState& state) = 0;

  const Ratio ratio_;
  const int64_t taps_;  // even: as many samples after an output's time as before it
  std::vector<float> input_;
  size_t next_ = 0;  // where the next output's samples start in input_

 private:
  void Start();
  size_t OutputBound() const;

  const KaiserLowPass low_pass_;
  const SimdLevel level_;
  int64_t silence_;  // samples before the first pushed one that the first output weighs
};

}  // namespace veravox
