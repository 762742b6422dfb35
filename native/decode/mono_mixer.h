// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decode/channel_polarity.h"
#include "decode/libav.h"

namespace veravox {

enum class SampleFormat { kU8, kS16, kS24, kS32, kF32, kF64 };  // little-endian, S24 packed into three bytes

// Turns samples of any format and channel layout into one channel of float, mixed as FFmpeg's `-ac 1` does to
// an integer format: the weights are scaled down so that full scale cannot be exceeded, and the low-frequency
// channel is left out. Two equal channels give the same as one. Unlike in FFmpeg, channels without stated
// places count alike, and channels that would cancel others are inverted.
//
// Values that are not finite become 0. Values too large for audio (floating-point files may hold anything)
// are limited.
class MonoMixer {
 public:
  // Takes this channel, from 0 on, in place of the mix; the last one if there are fewer.
  explicit MonoMixer(std::optional<int> channel = {}) : channel_(channel) {}

  // Call it before every Mix. It is cheap if nothing changes.
  void SetInput(SampleFormat format, const AVChannelLayout& layout);

  // Some channels, mixed since their layout changed, would have cancelled others.
  bool has_inverted() const { return polarity_.has_turned(); }

  // Mixes the next samples: `in` holds out.size() samples of every channel, interleaved, on any alignment.
  void MixInterleaved(const uint8_t* in, std::span<float> out);
  // Each of the channels' planes holds at least first + out.size() samples.
  void MixPlanar(const uint8_t* const* planes, size_t first, std::span<float> out);

 private:
  struct Input {
    SampleFormat format = SampleFormat::kU8;
    AVChannelOrder order = AV_CHANNEL_ORDER_UNSPEC;
    int channels = 0;
    uint64_t mask = 0;
    bool operator==(const Input&) const = default;
  };

  // The single channel to take, limited to the existing ones.
  std::optional<size_t> only_channel() const;

  // Calls `mix(first, weights, out)` for runs of samples, with each channel's sign in its weight;
  // `read(channel, sample)` reads one sample.
  template <typename Read, typename Mix>
  void MixRuns(std::span<float> out, Read read, Mix mix);

  std::optional<int> channel_;
  Input input_;
  std::vector<float> weights_;  // one per channel, the sample format's full scale divided out
  ChannelPolarity polarity_;
  std::vector<float> signed_weights_;
  std::vector<float> turned_;
};

}  // namespace veravox
