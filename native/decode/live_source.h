// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "decode/audio_source.h"

namespace veravox {

// Format of the pieces of live audio.
struct LiveFormat {
  enum class Encoding {
    kPcm16,  // little-endian, one channel; each piece has whole samples
    kMuLaw,  // G.711, one channel
    kALaw,   // G.711, one channel
    kOpus,   // each piece is a packet without a container (RFC 6716)
  };
  Encoding encoding = Encoding::kPcm16;
  int sample_rate_hz = 16000;  // of all but Opus
  int channels = 1;            // of Opus: 1 or 2
  int pre_skip = 0;            // of Opus: samples at 48 kHz to leave out at the start
};

// Audio that arrives in pieces. Gives the same samples as a file with the same content: PCM and
// G.711 as in WAV, Opus as in Ogg.
class LiveSource {
 public:
  virtual ~LiveSource() = default;

  virtual void Push(std::span<const uint8_t> piece) = 0;
  // No more pieces will follow.
  virtual void Finish() = 0;
};

// Two views of one object: `pieces` belongs to `audio`.
struct LiveInput {
  std::unique_ptr<AudioSource> audio;
  LiveSource* pieces = nullptr;
};

// `stop` is used in place and outlives the source. Throws StageError.
LiveInput MakeLiveInput(const LiveFormat& format, const DecodeOptions& options, const StopSignal& stop);

}  // namespace veravox
