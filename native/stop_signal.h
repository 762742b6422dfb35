// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "stage_error.h"

namespace veravox {

// Lets a request's owner stop the work from another thread. Loops over untrusted input call
// ThrowIfStopped() at least once per decoded block.
class StopSignal {
 public:
  using Clock = std::chrono::steady_clock;

  StopSignal() = default;
  // `flag` may be null; otherwise it outlives this object, and any value but 0 asks for a stop.
  StopSignal(const int32_t* flag, Clock::time_point deadline) : flag_(flag), deadline_(deadline) {}

  bool cancelled() const {
    // JavaScript writes the flag with Atomics.store.
    return flag_ != nullptr && __atomic_load_n(flag_, __ATOMIC_RELAXED) != 0;
  }
  bool expired() const { return Clock::now() >= deadline_; }
  bool stopped() const { return cancelled() || expired(); }

  void ThrowIfStopped() const {
    if (cancelled()) throw StageError(ErrorCode::kCancelled, "The request was abandoned.");
    if (expired())
      throw StageError(ErrorCode::kDeadline, "The time limit for preparing the audio was reached.");
  }

 private:
  const int32_t* flag_ = nullptr;
  Clock::time_point deadline_ = Clock::time_point::max();
};

}  // namespace veravox
