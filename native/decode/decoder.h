// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decode/byte_source.h"
#include "saved_state.h"
#include "stop_signal.h"

namespace veravox {

struct DecodeLimits {
  double max_duration_s = 600.0;  // more decoded audio than this throws kTooLong; nothing is truncated
  int max_channels = 32;
  int min_sample_rate_hz = 4000;
  int max_sample_rate_hz = 384000;
};

// A run of decoded audio, already mixed down to one channel. Valid until the next call.
struct MonoBlock {
  std::span<const float> samples;  // full scale is -1..1
  int sample_rate_hz = 0;          // may change between blocks of one file
};

// The first audio stream of a media file. Not thread-safe; one object per file.
class Decoder {
 public:
  // `source` and `stop` are used in place and outlive the decoder. Throws StageError.
  Decoder(ByteSource& source, const DecodeLimits& limits, const StopSignal& stop);
  // A file in memory.
  Decoder(std::span<const uint8_t> bytes, const DecodeLimits& limits, const StopSignal& stop);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Decodes the next block. False at the end of the stream, after the codec was drained.
  // Throws kUndecodable when the stream ended without one decoded sample.
  bool Next(MonoBlock& block);

  // Between two blocks. A state that is read takes a new decoder of the same file to where the other one was:
  // at once in plain PCM WAV, by decoding all that comes before in others. Their codecs depend on what they
  // have decoded, and some never forget it.
  void Transfer(SavedState& state);

  // Packets that the demuxer marked corrupt or the codec refused. What could be decoded of them was.
  int64_t damaged_packets() const;
  // Share of the file's bytes that were read, 0..1.
  double progress() const;
  const std::string& container_name() const;
  const std::string& codec_name() const;

 private:
  class Impl;
  std::unique_ptr<MemorySource> memory_;  // for a file in memory
  std::unique_ptr<Impl> impl_;
};

}  // namespace veravox
