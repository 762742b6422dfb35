// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "features/spectrogram.h"
#include "saved_state.h"
#include "simd/simd_level.h"
#include "vad/speech_levels.h"

namespace veravox {

// The speech network's input: a coarse log-mel spectrum per 10 ms frame, relative to the recent level, so
// that a whisper and a shout look alike. Frames come in blocks because the spectrogram works on one frame per
// lane of a vector.
class SpeechFeatures {
 public:
  static constexpr size_t kBands = 24;
  static constexpr size_t kHopSamples = 160;
  static constexpr size_t kWindowSamples = 256;
  // A frame's window reaches equally far beyond its start and its end.
  static constexpr size_t kOverhangSamples = (kWindowSamples - kHopSamples) / 2;
  static constexpr size_t kBlockFrames = 16;
  static constexpr size_t kBlockSamples = (kBlockFrames - 1) * kHopSamples + kWindowSamples;

  using Block = std::array<float, kBlockFrames * kBands>;  // frame after frame
  using Levels = std::array<FrameLevels, kBlockFrames>;

  explicit SpeechFeatures(SimdLevel level = BestSimdLevel());

  // `samples`: the block's frames with kOverhangSamples on either side. Blocks follow each other; their
  // samples overlap by 2 * kOverhangSamples. Non-finite samples count as silence in the bands they reach.
  void Compute(std::span<const float, kBlockSamples> samples, Block& features);
  // Levels of the frames of the last block.
  const Levels& levels() const { return levels_; }
  // Starts another stream with the next block.
  void Reset();
  // Call it between two blocks.
  void Transfer(SavedState& state) {
    state.Transfer(frames_seen_);
    state.Transfer(level_);
    state.RequireCount(frames_seen_);
  }

 private:
  std::unique_ptr<Spectrogram> spectrogram_;
  Levels levels_;
  int64_t frames_seen_ = 0;
  float level_ = 0.0f;
};

}  // namespace veravox
