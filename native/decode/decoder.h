// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decode/byte_source.h"
#include "decode/unheard.h"
#include "saved_state.h"
#include "stop_signal.h"

namespace veravox {

// The part of a recording that is decoded; all of it by default. Times are seconds of its audio.
struct DecodeRegion {
  double start_s = 0.0;
  std::optional<double> end_s;  // default: until the end

  bool is_all() const { return start_s == 0.0 && !end_s; }
};

struct DecodeLimits {
  double max_duration_s = 600.0;  // more decoded audio than this throws kTooLong; nothing is truncated
  int max_channels = 32;
  int min_sample_rate_hz = 4000;
  int max_sample_rate_hz = 384000;
};

struct DecodeOptions {
  DecodeLimits limits;
  // Audio outside is neither returned nor counted. A region beyond the audio throws kOutOfRange.
  DecodeRegion region;
  // Decodes this channel alone, from 0 on, in place of the mix. Parts with fewer channels give their last
  // one.
  std::optional<int> channel;
};

// A run of decoded audio, mixed down to one channel. Valid until the next call.
struct MonoBlock {
  std::span<const float> samples;  // full scale is -1..1
  int sample_rate_hz = 0;          // may change between blocks of one file
  double coded_bits = 0.0;         // of the packets it was decoded from; 0 without packets
  int64_t silence_ahead = 0;       // samples of silence known to follow
};

class AudioSource;

// The first audio stream of a media file. Not thread-safe; one object per file.
class Decoder {
 public:
  // `source` and `stop` are used in place and outlive the decoder. Throws StageError.
  Decoder(ByteSource& source, const DecodeOptions& options, const StopSignal& stop);
  // A file in memory.
  Decoder(std::span<const uint8_t> bytes, const DecodeOptions& options, const StopSignal& stop);
  // Audio that arrives in pieces, from a source that checks the channels.
  Decoder(std::unique_ptr<AudioSource> source, const DecodeLimits& limits, const StopSignal& stop);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Decodes the next block. False at the end of the stream, after the codec was drained, and while
  // is_waiting(). Throws kUndecodable if the stream ends without one decoded sample.
  bool Next(MonoBlock& block);
  // More audio will follow, but it has not arrived yet.
  bool is_waiting() const;

  // Call it between two blocks. A state that is read takes a new decoder of the same file to the other's
  // position: at once in PCM WAV of stated size, in others by decoding everything before it, since their
  // codecs depend on what they have decoded, some without end.
  void Transfer(SavedState& state);

  bool has_inverted_channels() const;
  // Packets that the demuxer marked corrupt or the codec refused. Their decodable parts are used.
  int64_t damaged_packets() const;
  // Both are complete at the end.
  std::vector<Unheard> unheard() const;
  std::optional<StatedLength> stated_length() const;
  // Share of the file's bytes read so far, 0..1.
  double progress() const;
  // Channels of the last block; 0 before the first.
  int channels() const;
  const std::string& container_name() const;
  // May change between blocks.
  std::string codec_name() const;

 private:
  class Impl;
  std::unique_ptr<MemorySource> memory_;  // if the file is in memory
  std::unique_ptr<Impl> impl_;
};

}  // namespace veravox
