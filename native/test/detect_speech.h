// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vad/voice_activity.h"

namespace veravox {

// The decisions on a recording pushed in blocks.
inline std::vector<uint8_t> DetectSpeech(VoiceActivityDetector& detector, std::span<const float> samples,
                                         size_t block) {
  std::vector<uint8_t> speech;
  for (; !samples.empty(); samples = samples.subspan(std::min(block, samples.size()))) {
    detector.Push(samples.first(std::min(block, samples.size())), speech);
  }
  detector.Finish(speech);
  return speech;
}

}  // namespace veravox
