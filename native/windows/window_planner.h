// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "saved_state.h"

namespace veravox {

// A half-open range of samples.
struct SampleRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};

// Cuts a stream of unknown length into windows of `window_samples`, without overlap except for the last one.
//
// A residual of more than `max_unheard_samples` gets its own window, which slides back so that it is full and
// ends with the audio. A shorter one makes the last window slide instead, which leaves a gap of that length
// before it. With 5 s and 0.1 s, 10.9 s of audio gives [0,5] [5,10] [5.9,10.9], and 10.001 s gives [0,5]
// [5.001,10.001]. Audio shorter than a window is one window of its own length.
//
// Given windows take the place of this plan. They may overlap, are in order of their beginning, and end with
// the audio at the latest.
class WindowPlanner {
 public:
  WindowPlanner(int64_t window_samples, int64_t max_unheard_samples, std::vector<SampleRange> given = {})
      : window_samples_(window_samples),
        max_unheard_samples_(max_unheard_samples),
        given_(std::move(given)) {}

  // The next window that is certain after `available` samples, which are all if `at_end`. False if there is
  // none (yet).
  bool Next(int64_t available, bool at_end, SampleRange& window) {
    if (!given_.empty()) return NextGiven(available, at_end, window);
    const int64_t nominal_end = next_begin_ + window_samples_;
    if (available > nominal_end + max_unheard_samples_) {
      window = {next_begin_, nominal_end};
      next_begin_ = nominal_end;
      return true;
    }
    if (!at_end || finished_ || available == 0) return false;
    finished_ = true;
    window = {available > window_samples_ ? available - window_samples_ : 0, available};
    return true;
  }

  // State before the last window.
  void Transfer(SavedState& state) {
    state.Transfer(next_begin_);
    state.RequireCount(next_begin_);
  }

  // The next window, unless the audio ends before it or soon after it.
  SampleRange Expected() const {
    if (given_.empty()) return {next_begin_, next_begin_ + window_samples_};
    return given_[std::min(next_given_, given_.size() - 1)];
  }

  // No audio is needed any longer.
  bool is_over() const { return !given_.empty() && next_given_ == given_.size(); }

  // No later window begins before this sample.
  int64_t earliest_begin() const {
    if (!given_.empty()) return Expected().begin;
    const int64_t slid_back = next_begin_ + max_unheard_samples_ + 1 - window_samples_;
    return slid_back > 0 ? slid_back : 0;
  }

 private:
  bool NextGiven(int64_t available, bool at_end, SampleRange& window) {
    if (is_over()) return false;
    const SampleRange& next = given_[next_given_];
    if (available < next.end && !at_end) return false;
    ++next_given_;
    window = {next.begin, std::min(next.end, available)};
    return window.size() > 0;
  }

  int64_t window_samples_;
  int64_t max_unheard_samples_;
  std::vector<SampleRange> given_;
  size_t next_given_ = 0;
  int64_t next_begin_ = 0;
  bool finished_ = false;
};

}  // namespace veravox
