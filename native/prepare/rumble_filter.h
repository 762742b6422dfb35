// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "saved_state.h"

namespace veravox {

// Removes from 16 kHz audio everything below any voice: offsets, rumble, and their remains behind a high-pass
// in a microphone or an app. Otherwise an inaudible filter would move the score. An elliptic high-pass of
// order 7: within 0.2 dB from 75 Hz on, at least 80 dB down below 45 Hz.
//
// A recording begins in the midst of its rumble. So that the first sample is not a step, the filter hears the
// beginning turned about its first sample (odd reflection) before it.
class RumbleFilter {
 public:
  static constexpr double kPassHz = 75.0;

  // Appends the certain part of the filtered audio. The first quarter of a second is held back until
  // complete.
  void Push(std::span<const float> samples, std::vector<float>& output);
  // Appends the rest and gets ready for the next stream.
  void Finish(std::vector<float>& output);
  // Call it between two calls of Push().
  void Transfer(SavedState& state);

 private:
  static constexpr size_t kSections = 4;
  // Two numbers per section (direct form II, transposed). Doubles: the poles are too close to 1 for floats.
  using Memory = std::array<double, 2 * kSections>;

  void Begin(std::vector<float>& output);
  void Filter(std::span<const float> samples, std::vector<float>& output);
  double Step(double sample);

  bool has_begun_ = false;
  std::vector<float> held_;
  Memory memory_{};
};

}  // namespace veravox
