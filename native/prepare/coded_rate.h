// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "saved_state.h"
#include "windows/window_planner.h"

namespace veravox {

// Bits per 100 ms of a stream of coded audio. Samples are those of the stream at 16 kHz.
class CodedRate {
 public:
  // Adds `samples` decoded from `bits`, spread evenly over them.
  void Add(double samples, double bits);
  // The most bits in one second of the window, or the rate per second of a shorter one. The steps at its ends
  // count in full.
  double BusiestSecond(const SampleRange& window) const;
  // No later window begins before this sample.
  void DropBefore(int64_t sample);
  // Transfers the part that belongs to the audio from this sample on.
  void Transfer(SavedState& state, int64_t sample);
  void Clear();

 private:
  double At(int64_t step) const;

  std::vector<double> bits_;  // per step, from first_ on
  int64_t first_ = 0;
  double end_ = 0.0;  // samples so far
};

}  // namespace veravox
