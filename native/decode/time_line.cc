// SPDX-License-Identifier: Apache-2.0
#include "decode/time_line.h"

#include <cmath>
#include <utility>

#include "decode/audio_source.h"

namespace veravox {
namespace {

// Stamps that go back further than this have restarted, as in joined streams.
constexpr double kStartedOverS = 1.0;

}  // namespace

int64_t TimeLine::SilenceBefore(double stamp_s, double origin_s, int rate_hz, double tolerance_s) {
  if (!shift_s_) {
    // Streams that begin together have stamps that differ by the delays of their encoders.
    const bool is_late = stamp_s - origin_s > kToleranceS;
    shift_s_ = position_s() - (is_late ? origin_s : stamp_s);
  } else {
    FollowJump(stamp_s);
  }
  const double ahead_s = Ahead(stamp_s, *shift_s_);
  return ahead_s > tolerance_s ? SamplesUntil(ahead_s, rate_hz) : 0;
}

// One wrong stamp among right ones looks like two restarts: the second one returns to the old shift.
void TimeLine::FollowJump(double stamp_s) {
  const double ahead_s = Ahead(stamp_s, *shift_s_);
  if (ahead_s >= -kStartedOverS && ahead_s <= kToleranceS) return;
  if (earlier_shift_s_ && std::abs(Ahead(stamp_s, *earlier_shift_s_)) <= kStartedOverS) {
    std::swap(*shift_s_, *earlier_shift_s_);
  } else if (ahead_s < -kStartedOverS) {
    earlier_shift_s_ = std::exchange(*shift_s_, position_s() - stamp_s);
  }
}

void TimeLine::Append(int64_t samples, int rate_hz) {
  if (rate_hz != rate_hz_) {
    seconds_at_other_rates_ = position_s();
    samples_ = 0;
    rate_hz_ = rate_hz;
  }
  samples_ += samples;
}

}  // namespace veravox
