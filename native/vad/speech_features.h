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

// What the speech network hears: a coarse log-mel spectrum per 10 ms frame, relative to the recent level, so
// that a whisper and a shout look alike. Frames come in blocks because the spectrogram works on as many at
// once as a vector has lanes.
class SpeechFeatures {
 public:
  static constexpr size_t kBands = 24;
  static constexpr size_t kHopSamples = 160;
  static constexpr size_t kWindowSamples = 256;
  // A frame's window reaches as far over its start as over its end.
  static constexpr size_t kOverhangSamples = (kWindowSamples - kHopSamples) / 2;
  static constexpr size_t kBlockFrames = 16;
  static constexpr size_t kBlockSamples = (kBlockFrames - 1) * kHopSamples + kWindowSamples;

  using Block = std::array<float, kBlockFrames * kBands>;  // frame after frame
  using Levels = std::array<FrameLevels, kBlockFrames>;

  explicit SpeechFeatures(SimdLevel level = BestSimdLevel());

  // `samples`: the block's frames with kOverhangSamples on either side. Blocks follow each other; their
  // samples overlap by 2 * kOverhangSamples. Samples that are not finite count as silence in the bands they
  // reach.
  void Compute(std::span<const float, kBlockSamples> samples, Block& features);
  // Of the frames of the last block.
  const Levels& levels() const { return levels_; }
  // The next block is the first of another stream.
  void Reset();
  // Between two blocks.
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
