// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "decode/audio_source.h"
#include "decode/byte_source.h"
#include "decode/mono_mixer.h"

namespace veravox {

// A WAV, RF64 or BW64 file of plain PCM, read where it lies. libavformat reads those too, but it searches
// 16-bit files for hidden formats, which takes over ten times as long as everything else here together.
struct WaveFile {
  SampleFormat format = SampleFormat::kS16;
  int channels = 0;
  int sample_rate_hz = 0;
  uint64_t channel_mask = 0;  // 0: not stated
  uint64_t begin = 0;         // where the samples lie in the file
  uint64_t bytes = 0;         // whole frames only
  bool truncated = false;     // the header promises more than the file holds
};

// The file starts at `begin`. False for files that are not plain PCM or not built in the plain way.
// libavformat decides about those.
bool ParseWaveFile(ByteSource& source, uint64_t begin, WaveFile& wave);

class WaveSource final : public AudioSource {
 public:
  // `source` is used in place and outlives this object. Throws StageError.
  WaveSource(ByteSource& source, const WaveFile& wave, const DecodeOptions& options);

  bool Next(MonoBlock& block) override;
  void Skip(int64_t samples) override;
  AudioPosition Seek(double start_s) override;
  int channels() const override { return wave_.channels; }
  int64_t damaged_packets() const override { return wave_.truncated && ended_ ? 1 : 0; }
  bool has_inverted_channels() const override { return mixer_.has_inverted(); }
  double progress() const override;
  std::string container_name() const override { return "wav"; }
  std::string codec_name() const override;

 private:
  void MixUntil(uint64_t end);

  ByteSource& source_;
  const WaveFile wave_;
  const size_t frame_bytes_;
  uint64_t position_ = 0;   // in wave_.bytes
  uint64_t mix_begin_ = 0;  // where the mixer has begun, or would have without a Skip()
  bool ended_ = false;
  MonoMixer mixer_;
  std::vector<float> mono_;
  std::vector<uint8_t> pieces_;
};

}  // namespace veravox
