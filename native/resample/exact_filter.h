// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "resample/polyphase_filter.h"

namespace veravox {

// A polyphase filter with a table of weights for each phase of its ratio.
//
// Eight consecutive outputs are computed together from the same samples: the weights of each are shifted to
// the start of its samples, so that a vector of samples is loaded once for all of them.
class ExactFilter final : public PolyphaseFilter {
 public:
  // Eight taps of one output.
  struct alignas(32) TapBlock {
    float taps[kBlock];
  };

  // False if the table would be too large.
  static bool Suits(Ratio ratio, const KaiserLowPass& low_pass);

  ExactFilter(Ratio ratio, const KaiserLowPass& low_pass, int64_t first_input, SimdLevel level);

 private:
  size_t FilterBaseline(float* output) override;
  size_t FilterAvx2(float* output) override;
  template <int kLanes>
  size_t FilterGroups(float* output);

  void Rewind() override { group_ = 0; }
  void TransferPhase(SavedState& state) override {
    auto group = static_cast<uint64_t>(group_);
    state.Transfer(group);
    state.Require(group < advances_.size());
    group_ = static_cast<size_t>(group);
  }

  const size_t group_taps_;       // weighed by the outputs of a group
  std::vector<TapBlock> table_;   // per group: taps 0..7 of its eight outputs, then taps 8..15 of them, ...
  std::vector<size_t> advances_;  // samples from each group to the next; the phases repeat after the last
  size_t group_ = 0;
};

}  // namespace veravox
