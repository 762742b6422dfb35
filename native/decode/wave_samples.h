// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "decode/byte_source.h"
#include "decode/mono_mixer.h"
#include "decode/spliced_source.h"
#include "decode/wave_file.h"

namespace veravox {

// Converts samples of a WAV file to a format that MonoMixer takes.
class WaveSamples {
 public:
  WaveSamples(WaveCoding coding, bool big_endian, float gain = 1.0f)
      : coding_(coding), big_endian_(big_endian), gain_(gain) {}

  SampleFormat format() const;
  // `bytes` holds `count` samples. The result is valid until the next call, or as long as they are.
  const uint8_t* Convert(const uint8_t* bytes, size_t count);

 private:
  template <typename T, typename Read>
  const uint8_t* Each(const uint8_t* bytes, size_t count, Read read);
  const uint8_t* Swapped(const uint8_t* bytes, size_t count);
  template <typename T>
  const uint8_t* Scaled(const uint8_t* bytes, size_t count);

  const WaveCoding coding_;
  const bool big_endian_;
  const float gain_;
  std::vector<uint8_t> swapped_;
  std::vector<uint8_t> converted_;
};

// The gain for floating-point samples. Full scale is 1 in nearly all files, but some hold integers, or are
// far louder. One in a thousand samples may exceed the new full scale. Looks at 16 places of the ranges,
// which share one format.
float FloatGain(ByteSource& source, const std::vector<ByteRange>& ranges, const WaveFormat& format);

}  // namespace veravox
