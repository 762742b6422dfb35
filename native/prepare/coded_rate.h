// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "saved_state.h"
#include "windows/window_planner.h"

namespace veravox {

// How many bits a stream of coded audio takes over time, in steps of 100 ms. Samples are those of the stream
// at 16 kHz.
class CodedRate {
 public:
  // The next `samples` were decoded from this many bits, which spread evenly over them.
  void Add(double samples, double bits);
  // The largest number of bits in one second of the window, or per second of a shorter one. The steps at its
  // ends count as a whole.
  double BusiestSecond(const SampleRange& window) const;
  // No later window begins before this sample.
  void DropBefore(int64_t sample);
  // What belongs to the audio from this sample on.
  void Transfer(SavedState& state, int64_t sample);
  void Clear();

 private:
  double At(int64_t step) const;

  std::vector<double> bits_;  // of each step from first_ on
  int64_t first_ = 0;
  double end_ = 0.0;  // samples so far
};

}  // namespace veravox
