// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "decode/unheard.h"

namespace veravox {

// A number of samples at one rate.
struct AudioPosition {
  int64_t samples = 0;
  int rate_hz = 0;
};

// The number of samples before this time, to the nearest boundary.
inline int64_t SamplesUntil(double seconds, int rate_hz) {
  constexpr double kFarAway = 1e15;  // within the range of an integer
  return std::llround(std::clamp(seconds * rate_hz, -kFarAway, kFarAway));
}

// A source of blocks for a Decoder. Checks the limit on channels; the Decoder checks the other limits as it
// reads the blocks.
class AudioSource {
 public:
  virtual ~AudioSource() = default;

  // The next block, never empty; valid until the next call. False at the end, and while is_waiting().
  virtual bool Next(MonoBlock& block) = 0;
  // More audio will follow, but it has not arrived yet.
  virtual bool is_waiting() const { return false; }
  // Skips `samples` samples that Next() would have given, or the rest if there are fewer. Call it before
  // Next(), with the sum of whole blocks.
  virtual void Skip(int64_t samples) {
    MonoBlock block;
    while (samples > 0 && Next(block)) samples -= static_cast<int64_t>(block.samples.size());
  }
  // Jumps to this time, where Next() gives what a file that begins there would give. Call it before Next().
  // Returns the new position, or the end if that is earlier; a source that cannot seek stays where it is and
  // returns a rate of 0.
  virtual AudioPosition Seek(double) { return {}; }
  // Channels of the last block; 0 before the first.
  virtual int channels() const = 0;
  // Some channels were inverted, since they would have cancelled others in the mix.
  virtual bool has_inverted_channels() const { return false; }
  virtual int64_t damaged_packets() const = 0;
  // Complete at the end, as is stated_length(); times are those of the whole recording. A region omits what
  // lies outside.
  virtual std::vector<Unheard> unheard() const { return {}; }
  // Set at the end, if the file is shorter than it says.
  virtual std::optional<StatedLength> stated_length() const { return {}; }
  // Set at the end: the offset of another file behind this one, in the source's bytes.
  virtual std::optional<uint64_t> file_end() const { return {}; }
  // Share of the file's bytes read so far, 0..1. May jump if the container's index is at the end.
  virtual double progress() const = 0;
  virtual std::string container_name() const = 0;
  virtual std::string codec_name() const = 0;
};

inline void CheckChannels(int channels, const DecodeLimits& limits) {
  if (channels <= limits.max_channels) return;
  throw StageError(ErrorCode::kTooManyChannels, "The audio has " + std::to_string(channels) +
                                                    " channels; at most " +
                                                    std::to_string(limits.max_channels) + " are allowed.");
}

}  // namespace veravox
