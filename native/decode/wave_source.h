// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "decode/audio_source.h"
#include "decode/mono_mixer.h"

namespace veravox {

// A WAV, RF64 or BW64 file of plain PCM, read where it lies. libavformat reads those too, but it searches
// 16-bit files for hidden formats, which takes over ten times as long as everything else here together.
struct WaveFile {
  SampleFormat format = SampleFormat::kS16;
  int channels = 0;
  int sample_rate_hz = 0;
  uint64_t channel_mask = 0;         // 0: not stated
  std::span<const uint8_t> samples;  // whole frames only
  bool truncated = false;            // the header promises more than the file holds
};

// False for files that are not plain PCM or not built in the plain way. libavformat decides about those.
bool ParseWaveFile(std::span<const uint8_t> bytes, WaveFile& wave);

class WaveSource final : public AudioSource {
 public:
  // Throws StageError.
  WaveSource(const WaveFile& wave, const DecodeLimits& limits);

  bool Next(MonoBlock& block) override;
  int64_t damaged_packets() const override { return wave_.truncated && ended_ ? 1 : 0; }
  double progress() const override;
  std::string container_name() const override { return "wav"; }
  std::string codec_name() const override;

 private:
  WaveFile wave_;  // its samples are those still to come
  size_t total_bytes_;
  bool ended_ = false;
  MonoMixer mixer_;
  std::vector<float> mono_;
};

}  // namespace veravox
