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

// How many samples lie before this time; the nearest boundary between two counts.
inline int64_t SamplesUntil(double seconds, int rate_hz) {
  constexpr double kFarAway = 1e15;  // where an integer still holds it
  return std::llround(std::clamp(seconds * rate_hz, -kFarAway, kFarAway));
}

// Where a Decoder gets its blocks from. Checks the limit on channels; the Decoder checks the others, which
// show in the blocks.
class AudioSource {
 public:
  virtual ~AudioSource() = default;

  // The next block, never empty; valid until the next call. False at the end, and while is_waiting().
  virtual bool Next(MonoBlock& block) = 0;
  // The audio goes on, but what follows has not come yet.
  virtual bool is_waiting() const { return false; }
  // Passes over `samples` samples that Next() would have given, or over the rest if there are fewer. To be
  // called first, and with what some blocks had together.
  virtual void Skip(int64_t samples) {
    MonoBlock block;
    while (samples > 0 && Next(block)) samples -= static_cast<int64_t>(block.samples.size());
  }
  // Goes to this time at once, where Next() gives what a file would give that begins there. To be called
  // first. Where it then is, or the end if that comes earlier; a source that cannot do it stays where
  // it is, at no rate.
  virtual AudioPosition Seek(double) { return {}; }
  // Of the block that came last; 0 before the first.
  virtual int channels() const = 0;
  // Channels would have cancelled each other in the mix, so that some were inverted.
  virtual bool has_inverted_channels() const { return false; }
  virtual int64_t damaged_packets() const = 0;
  // Whole at the end, as the next; times are those of the whole recording. A region leaves out what lies
  // outside.
  virtual std::vector<Unheard> unheard() const { return {}; }
  // Only at the end, and only where the file is shorter than it says.
  virtual std::optional<StatedLength> stated_length() const { return {}; }
  // At the end: where another file begins behind this one, in the bytes that the source was given.
  virtual std::optional<uint64_t> file_end() const { return {}; }
  // Share of the file's bytes that were read, 0..1. May jump where a container keeps its index at the end.
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
