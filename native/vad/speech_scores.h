// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "saved_state.h"
#include "vad/speech_features.h"
#include "vad/speech_network.h"

namespace veravox {

// Log odds of speech, one per 10 ms frame of a stream, up to 250 ms behind it. Blocks lie at fixed places of
// the stream, so the numbers do not depend on how the samples arrive.
class SpeechScores {
 public:
  explicit SpeechScores(SimdLevel level = BestSimdLevel()) : features_(level), network_(level) { Reset(); }

  // `sink` is called with the log odds (float) of every frame that became decidable, in order, and its
  // FrameLevels.
  template <typename Sink>
  void Push(std::span<const float> samples, const Sink& sink) {
    pushed_samples_ += static_cast<int64_t>(samples.size());
    Consume(samples, sink);
  }

  // Gives the pending frames, as if silence followed, and prepares for the next stream.
  template <typename Sink>
  void Finish(const Sink& sink) {
    constexpr int64_t kHop = SpeechFeatures::kHopSamples;
    constexpr std::array<float, kHop> kSilence{};
    frames_wanted_ = (pushed_samples_ + kHop - 1) / kHop;
    while (frames_given_ < frames_wanted_) Consume(kSilence, sink);
    Reset();
  }

  // Call it between two calls of Push().
  void Transfer(SavedState& state) {
    features_.Transfer(state);
    network_.Transfer(state);
    state.Transfer(std::span<float>(block_));
    for (FrameLevels& levels : pending_levels_) {
      state.Transfer(levels.low);
      state.Transfer(levels.high);
    }
    for (uint64_t* count : {&filled_, &steps_to_skip_, &frames_heard_}) state.Transfer(*count);
    for (int64_t* count : {&pushed_samples_, &frames_given_, &frames_wanted_}) state.Transfer(*count);
    state.Require(filled_ < block_.size());
    for (const int64_t count : {pushed_samples_, frames_given_}) state.RequireCount(count);
  }

 private:
  template <typename Sink>
  void Consume(std::span<const float> samples, const Sink& sink) {
    while (!samples.empty()) {
      const size_t taken = std::min(samples.size(), block_.size() - filled_);
      std::copy_n(samples.begin(), taken, block_.begin() + static_cast<ptrdiff_t>(filled_));
      filled_ += taken;
      samples = samples.subspan(taken);
      if (filled_ == block_.size()) ScoreBlock(sink);
    }
  }

  template <typename Sink>
  void ScoreBlock(const Sink& sink) {
    constexpr size_t kStepFrames = SpeechNetwork::kStepFrames;
    features_.Compute(block_, feature_block_);
    for (const FrameLevels& levels : features_.levels())
      pending_levels_[frames_heard_++ % kPendingFrames] = levels;
    for (size_t frame = 0; frame < SpeechFeatures::kBlockFrames; frame += kStepFrames) {
      const float* inputs = &feature_block_[frame * SpeechFeatures::kBands];
      const auto scores =
          network_.Step(std::span<const float, SpeechNetwork::kInputs>(inputs, SpeechNetwork::kInputs));
      if (steps_to_skip_ > 0) {
        --steps_to_skip_;
        continue;
      }
      for (size_t i = 0; i < kStepFrames && frames_given_ < frames_wanted_; ++i, ++frames_given_)
        sink(scores[i], pending_levels_[static_cast<size_t>(frames_given_) % kPendingFrames]);
    }
    std::copy(block_.end() - kKeptSamples, block_.end(), block_.begin());
    filled_ = kKeptSamples;
  }

  void Reset() {
    features_.Reset();
    network_.Reset();
    // The first frame's window begins before the stream.
    std::fill_n(block_.begin(), SpeechFeatures::kOverhangSamples, 0.0f);
    filled_ = SpeechFeatures::kOverhangSamples;
    steps_to_skip_ = SpeechNetwork::kDelaySteps;
    pushed_samples_ = 0;
    frames_heard_ = 0;
    frames_given_ = 0;
    frames_wanted_ = INT64_MAX;
  }

  static constexpr size_t kKeptSamples = 2 * SpeechFeatures::kOverhangSamples;
  // A power of two, at least the number of heard frames whose log odds are still pending.
  static constexpr size_t kPendingFrames = 32;
  static_assert(kPendingFrames >=
                SpeechFeatures::kBlockFrames + SpeechNetwork::kDelaySteps * SpeechNetwork::kStepFrames);

  SpeechFeatures features_;
  SpeechNetwork network_;
  std::array<float, SpeechFeatures::kBlockSamples> block_;
  SpeechFeatures::Block feature_block_;
  std::array<FrameLevels, kPendingFrames> pending_levels_;
  uint64_t filled_;
  uint64_t steps_to_skip_;
  int64_t pushed_samples_;
  uint64_t frames_heard_;
  int64_t frames_given_;
  int64_t frames_wanted_;  // unknown, thus unbounded, until Finish
};

}  // namespace veravox
