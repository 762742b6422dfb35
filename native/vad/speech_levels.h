// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "saved_state.h"

namespace veravox {

// The level of the strongest band in a 10 ms frame, as the natural logarithm of its power.
struct FrameLevels {
  float low = 0.0f;   // of the bands from 150 Hz to 3.4 kHz
  float high = 0.0f;  // of those from 4.7 kHz on
};

// Properties of the recording from the levels of its speech frames. Memory does not depend on the duration.
class SpeechLevels {
 public:
  void Add(FrameLevels levels);
  void Reset() { *this = {}; }
  void Transfer(SavedState& state) {
    for (Histogram* histogram : {&low_, &high_}) histogram->Transfer(state);
  }

  // The drop from the loudest twentieth of speech to the same above 4.7 kHz, in dB. Sibilants keep it small
  // in most languages; a telephone removes them. Unknown with less than a second of speech.
  std::optional<double> HighBandDropDb() const;
  // The gap between the loudest tenth of speech and its quietest 3 %, in dB. Between words and in weak sounds
  // little is left but the noise, so this is 11 to 16 more than the ratio of speech to steady noise, with or
  // without pauses. Frames of digital silence, as editors insert it, do not count: they would hide the noise.
  // Unknown with less than a second of other speech.
  std::optional<double> NoiseGapDb() const;

 private:
  class Histogram {
   public:
    void Add(float level);
    int64_t count() const { return count_; }
    int64_t silent_count() const { return bins_[0]; }
    // The level that a given share of the frames exceeds.
    double ExceededBy(double share) const;
    void Transfer(SavedState& state) {
      state.Transfer(std::span<uint32_t>(bins_));
      state.Transfer(count_);
      state.RequireCount(count_);
    }

   private:
    // One bin per dB. Weaker levels count as digital silence.
    static constexpr int kLowestDb = -70;
    static constexpr size_t kBins = 160;
    std::array<uint32_t, kBins> bins_{};
    int64_t count_ = 0;
  };

  Histogram low_;
  Histogram high_;
};

}  // namespace veravox
