// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace veravox {

// Positions of decoded audio on the time line of its recording, which begins with the earliest stream. Time
// stamps that jump ahead leave a gap, as from a muted microphone or lost packets; it counts as silence, so
// all times are as in players. Audio is never dropped because of its stamps, and stamps that go
// back add no silence: overlaps only delay what follows until the next gap.
class TimeLine {
 public:
  // Containers round stamps, and stamps jitter or drift against the audio. A smaller jump is not a gap.
  static constexpr double kToleranceS = 0.1;

  // Samples of silence before the next audio, if its stamp is `stamp_s`. `origin_s` is the earliest stamp of
  // the other streams, infinite if there are none; it counts for the first stamp only. Jumps are gaps above
  // the tolerance.
  int64_t SilenceBefore(double stamp_s, double origin_s, int rate_hz, double tolerance_s = kToleranceS);
  // Appends that silence, or audio.
  void Append(int64_t samples, int rate_hz);
  double position_s() const {
    return seconds_at_other_rates_ + (rate_hz_ > 0 ? static_cast<double>(samples_) / rate_hz_ : 0.0);
  }

 private:
  double Ahead(double stamp_s, double shift_s) const { return stamp_s + shift_s - position_s(); }
  void FollowJump(double stamp_s);

  // Counted in samples: a sum of seconds would drift.
  int64_t samples_ = 0;
  int rate_hz_ = 0;
  double seconds_at_other_rates_ = 0.0;
  std::optional<double> shift_s_;          // from stamps to times; absent before the first
  std::optional<double> earlier_shift_s_;  // before the stamps restarted
};

}  // namespace veravox
