// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "saved_state.h"
#include "simd/simd_level.h"

namespace veravox {

// Halves a sample rate with a half-band filter: every second coefficient of it is zero, so that a quarter of
// the multiplications of an ordinary filter remain. Samples are counted from the start of the stream, which
// follows silence; the filter responds to the first sample before that sample's time, so counts can be
// negative.
class Halver {
 public:
  // `pass`, in cycles per input sample and below 1/4, is the highest frequency to pass; frequencies mirrored
  // onto it or below are attenuated. first_input is the even number of the first sample to be pushed.
  Halver(double pass, double attenuation_db, int64_t first_input, SimdLevel level);

  // The even number of the first output sample; output n stands at the time of input 2 n.
  int64_t first_output() const { return first_output_; }

  // Replaces `output` by all samples that can be computed so far.
  void Push(std::span<const float> input, std::vector<float>& output);
  // Forgets the stream.
  void Reset();
  void Transfer(SavedState& state);

 private:
  using Kernel = void (*)(const float* even, const float* odd, std::span<const float> coefficients,
                          std::span<float> output);

  std::vector<float> coefficients_;  // at distance 1, 3, 5, ... from the centre, where it is 1/2
  int64_t first_output_;
  size_t silence_;  // pairs between the first output and the first input
  Kernel kernel_;
  std::vector<float> even_;  // from the time of the next output on
  std::vector<float> odd_;   // from coefficients_.size() pairs earlier on
  bool next_is_odd_ = false;
};

}  // namespace veravox
