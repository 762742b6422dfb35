// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "saved_state.h"
#include "vad/speech_levels.h"

namespace veravox {

// Streaming voice activity detection, one decision per 10 ms frame. Not thread-safe.
class VoiceActivityDetector {
 public:
  static constexpr int kSampleRateHz = 16000;
  static constexpr size_t kFrameSamples = 160;

  VoiceActivityDetector();
  ~VoiceActivityDetector();
  VoiceActivityDetector(const VoiceActivityDetector&) = delete;
  VoiceActivityDetector& operator=(const VoiceActivityDetector&) = delete;

  // Appends one byte per frame that became decidable: 1 for speech, 0 otherwise. Blocks may have any size.
  void Push(std::span<const float> samples, std::vector<uint8_t>& speech);
  // Decides the frames still pending (a last partial frame counts as a frame) and prepares for the next
  // stream. In all, n samples give ceil(n / kFrameSamples) decisions.
  void Finish(std::vector<uint8_t>& speech);
  // Call it between two calls of Push(). A state that is read continues the stream of another object.
  void Transfer(SavedState& state);
  // Levels of the last finished stream.
  const SpeechLevels& levels() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace veravox
