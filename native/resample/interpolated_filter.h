// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "resample/polyphase_filter.h"

namespace veravox {

// A polyphase filter for ratios with very many phases (44101 Hz to 16000 Hz has 16000): it keeps the weights
// of a few hundred phases and interpolates linearly between them.
class InterpolatedFilter final : public PolyphaseFilter {
 public:
  // jscpd:ignore-start: another implementation of the same interface.
  InterpolatedFilter(Ratio ratio, const KaiserLowPass& low_pass, int64_t first_input, SimdLevel level);

 private:
  size_t FilterBaseline(float* output) override;
  size_t FilterAvx2(float* output) override;
  template <int kLanes>
  size_t FilterEach(float* output);

  void Rewind() override { phase_ = 0; }
  void TransferPhase(SavedState& state) override {
    state.Transfer(phase_);
    state.Require(phase_ >= 0 && phase_ < ratio_.up);
  }
  // jscpd:ignore-end

  const size_t row_taps_;  // taps_ in whole blocks
  std::vector<float> rows_;
  int64_t phase_ = 0;  // of the next output, in 1 / ratio_.up of a sample
};

}  // namespace veravox
