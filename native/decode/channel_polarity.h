// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace veravox {

// Finds channels that would cancel others in a mix, since one of them has the opposite polarity: a microphone
// that is wired the other way, or a recorder that inverts a side. Decides anew after every run of a few
// milliseconds, by what the channels had in common in the last second or less.
//
// What it says of a sample depends on some thousand samples before it and on nothing else, not even on the
// pieces in which they come: a reader that starts in the middle gets the same mix after a little more reading.
class ChannelPolarity {
 public:
  static constexpr size_t kRunSamples = 512;

  void Reset(size_t channels);
  // What the next samples of the run, at most run_left(), add to the mix: `read(channel, sample)` gives it.
  template <typename Read>
  void Hear(size_t samples, Read read) {
    // Steps from one sample to another a little later have no offset and hardly any hum, which say nothing of
    // voices. That some are left out does not matter for their correlation.
    const size_t first = (kStepSamples - run_position_ % kStepSamples) % kStepSamples;
    for (size_t i = first; i < samples; i += kStepSamples) {
      const size_t step = (run_position_ + i) / kStepSamples;
      for (size_t c = 0; c < channels_; ++c) {
        const float now = read(c, i);
        if (step > 0) steps_[c * kSteps + step - 1] = now - before_[c];
        before_[c] = now;
      }
    }
    run_position_ += samples;
    if (run_position_ == kRunSamples) EndRun();
  }
  size_t run_position() const { return run_position_; }
  size_t run_left() const { return kRunSamples - run_position_; }
  // 1 or -1 for each channel, in the run before this one and in this one.
  std::span<const float> signs_before() const { return signs_before_; }
  std::span<const float> signs() const { return signs_; }

  // From where on all has to be heard for what is said of this sample.
  static int64_t FirstHeard(int64_t sample) {
    return std::max<int64_t>(sample / kBlockSamples - 2, 0) * kBlockSamples;
  }

 private:
  static constexpr size_t kStepSamples = 8;
  static constexpr size_t kSteps = kRunSamples / kStepSamples - 1;
  static constexpr int kBlockRuns = 16;
  static constexpr int64_t kBlockSamples = kBlockRuns * int64_t{kRunSamples};

  void EndRun();
  void Multiply();
  double Product(size_t a, size_t b) const {
    const size_t place = std::min(a, b) * channels_ + std::max(a, b);
    return products_[place] + products_before_[place];
  }
  bool Cancel(size_t a, size_t b) const;
  void FindSigns();

  size_t channels_ = 0;
  std::vector<float> before_;  // the sample in which the last step ended
  std::vector<float> steps_;   // of the run
  size_t run_position_ = 0;
  // Sums of the products of each two channels' steps, in the present block and the one before.
  std::vector<double> products_;
  std::vector<double> products_before_;
  int block_runs_ = 0;
  bool may_turn_ = true;
  std::vector<size_t> order_;
  std::vector<float> found_;
  std::vector<float> signs_;
  std::vector<float> signs_before_;
};

}  // namespace veravox
