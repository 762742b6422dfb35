// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace veravox {

// Finds channels that would cancel others in a mix because of opposite polarity: a microphone wired the wrong
// way, or a recorder that inverts a side. Decides anew for each run of a few milliseconds, by how the
// channels correlated in the last second or less and in the run itself, so that a voice is in the mix from
// its first sound.
//
// The decision for a sample depends on some thousand samples before its run and on none after it: a reader
// that starts in the middle gets the same mix after a little more reading. A run should only be split where
// every reader of the file splits it.
class ChannelPolarity {
 public:
  static constexpr size_t kRunSamples = 512;

  void Reset(size_t channels);
  // Contribution of the next samples of the run, at most run_left(), to the mix: `read(channel, sample)`
  // gives them.
  template <typename Read>
  void Hear(size_t samples, Read read) {
    // Differences of samples a little apart have no offset and hardly any hum, neither of which tells of
    // voices. Skipping some differences does not affect their correlation.
    const size_t first = (kStepSamples - run_position_ % kStepSamples) % kStepSamples;
    size_t steps = 0;
    for (size_t i = first; i < samples; i += kStepSamples) {
      const bool has_before = run_position_ + i > 0;
      for (size_t c = 0; c < channels_; ++c) {
        const float now = read(c, i);
        if (has_before) steps_[c * kSteps + steps] = now - before_[c];
        before_[c] = now;
      }
      steps += has_before ? 1 : 0;
    }
    Multiply(steps);
    Decide();
    Advance(samples);
  }
  size_t run_left() const { return kRunSamples - run_position_; }
  // 1 or -1 per channel: before the samples heard last, and from there on.
  std::span<const float> signs_before() const { return signs_before_; }
  std::span<const float> signs() const { return signs_; }

  // A channel was inverted since the last Reset().
  bool has_turned() const { return has_turned_; }

  // The first sample that must be heard to decide about this one.
  static int64_t FirstHeard(int64_t sample) {
    return std::max<int64_t>(sample / kBlockSamples - 2, 0) * kBlockSamples;
  }

 private:
  static constexpr size_t kStepSamples = 8;
  static constexpr size_t kSteps = kRunSamples / kStepSamples - 1;
  static constexpr int kBlockRuns = 16;
  static constexpr int64_t kBlockSamples = kBlockRuns * int64_t{kRunSamples};

  void Multiply(size_t steps);
  void Decide();
  void Advance(size_t samples);
  double Product(size_t a, size_t b) const {
    const size_t place = std::min(a, b) * channels_ + std::max(a, b);
    return products_[place] + products_before_[place];
  }
  bool Cancel(size_t a, size_t b) const;
  void FindSigns();

  size_t channels_ = 0;
  std::vector<float> before_;  // the sample at which the last step ended
  std::vector<float> steps_;
  size_t run_position_ = 0;
  // Sums of the products of each channel pair's steps, in this block and the one before.
  std::vector<double> products_;
  std::vector<double> products_before_;
  int block_runs_ = 0;
  bool may_turn_ = true;
  bool has_begun_ = false;
  bool has_turned_ = false;
  std::vector<size_t> order_;
  std::vector<float> found_;
  std::vector<float> signs_;
  std::vector<float> signs_before_;
};

}  // namespace veravox
