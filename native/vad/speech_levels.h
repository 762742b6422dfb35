// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "saved_state.h"

namespace veravox {

// How loud the strongest band of a 10 ms frame is, as the natural logarithm of its power.
struct FrameLevels {
  float low = 0.0f;   // of the bands from 150 Hz to 3.4 kHz
  float high = 0.0f;  // of those from 4.7 kHz on
};

// What the levels of the speech frames of a stream tell about the recording. Takes the same memory whatever
// the duration.
class SpeechLevels {
 public:
  void Add(FrameLevels levels);
  void Reset() { *this = {}; }
  void Transfer(SavedState& state) {
    for (Histogram* histogram : {&low_, &high_}) histogram->Transfer(state);
  }

  // How far the loudest twentieth of speech stays below itself from 4.7 kHz on, in dB. Sibilants make that
  // little in most languages; over a telephone nothing is left of them. Unknown with less than a second of
  // speech.
  std::optional<double> HighBandDropDb() const;
  // How far the loudest tenth of speech stands above its quietest 3 %, in dB. Between words and in weak
  // sounds little is left but the noise, so this is 11 to 16 more than the ratio of speech to steady noise,
  // with or without pauses. Frames of digital silence, as editors leave it, are not counted: they would hide
  // the noise. Unknown with less than a second of other speech.
  std::optional<double> NoiseGapDb() const;

 private:
  class Histogram {
   public:
    void Add(float level);
    int64_t count() const { return count_; }
    int64_t silent_count() const { return bins_[0]; }
    // The level that a share of the frames is above.
    double ExceededBy(double share) const;
    void Transfer(SavedState& state) {
      state.Transfer(std::span<uint32_t>(bins_));
      state.Transfer(count_);
      state.RequireCount(count_);
    }

   private:
    // One bin per dB. What is weaker than the lowest is as good as digital silence.
    static constexpr int kLowestDb = -70;
    static constexpr size_t kBins = 160;
    std::array<uint32_t, kBins> bins_{};
    int64_t count_ = 0;
  };

  Histogram low_;
  Histogram high_;
};

}  // namespace veravox
