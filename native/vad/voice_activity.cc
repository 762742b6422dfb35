// SPDX-License-Identifier: Apache-2.0
#include "vad/voice_activity.h"

#include <algorithm>

#include "vad/speech_scores.h"

namespace veravox {

static_assert(VoiceActivityDetector::kFrameSamples == SpeechFeatures::kHopSamples);

class VoiceActivityDetector::Impl {
 public:
  void Push(std::span<const float> samples, std::vector<uint8_t>& speech) {
    scores_.Push(samples, [&](float log_odds, FrameLevels levels) { Take(log_odds, levels, speech); });
  }

  void Finish(std::vector<uint8_t>& speech) {
    scores_.Finish([&](float log_odds, FrameLevels levels) { Take(log_odds, levels, speech); });
    hangover_frames_ = 0;
    finished_levels_ = levels_;
    levels_.Reset();
  }

  void Transfer(SavedState& state) {
    scores_.Transfer(state);
    state.Transfer(hangover_frames_);
    state.Require(hangover_frames_ >= 0 && hangover_frames_ <= kHangoverFrames);
    levels_.Transfer(state);
  }

  const SpeechLevels& levels() const { return finished_levels_; }

 private:
  // Below even odds, as missed speech costs more than kept noise; noise alone stays far below it. docs/vad.md
  // has the figures.
  static constexpr float kLogOddsOfSpeech = -0.5f;
  // Keeps the faint end of a word.
  static constexpr int kHangoverFrames = 5;

  void Take(float log_odds, FrameLevels levels, std::vector<uint8_t>& speech) {
    speech.push_back(Decide(log_odds));
    if (speech.back() != 0) levels_.Add(levels);
  }

  uint8_t Decide(float log_odds) {
    hangover_frames_ = log_odds > kLogOddsOfSpeech ? kHangoverFrames : std::max(0, hangover_frames_ - 1);
    return hangover_frames_ > 0;
  }

  SpeechScores scores_;
  int hangover_frames_ = 0;
  SpeechLevels levels_;
  SpeechLevels finished_levels_;
};

VoiceActivityDetector::VoiceActivityDetector() : impl_(std::make_unique<Impl>()) {}
VoiceActivityDetector::~VoiceActivityDetector() = default;

void VoiceActivityDetector::Push(std::span<const float> samples, std::vector<uint8_t>& speech) {
  impl_->Push(samples, speech);
}

void VoiceActivityDetector::Finish(std::vector<uint8_t>& speech) { impl_->Finish(speech); }

void VoiceActivityDetector::Transfer(SavedState& state) { impl_->Transfer(state); }

const SpeechLevels& VoiceActivityDetector::levels() const { return impl_->levels(); }

}  // namespace veravox
