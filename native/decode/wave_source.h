// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decode/audio_source.h"
#include "decode/byte_source.h"
#include "decode/mono_mixer.h"
#include "decode/wave_file.h"
#include "decode/wave_samples.h"

namespace veravox {

// WAV files whose samples need no decoder, read where they lie. libavformat can read them, but it searches
// 16-bit files for hidden formats, which takes over ten times as long as everything else here, and it hears
// only a part of some files.
class WaveSource final : public AudioSource {
 public:
  // `source` and `stop` are used in place and outlive this object. All parts of `file` have a coding. Throws
  // StageError.
  WaveSource(ByteSource& source, WaveFile file, const DecodeOptions& options, const StopSignal& stop);

  bool Next(MonoBlock& block) override;
  void Skip(int64_t samples) override;
  AudioPosition Seek(double start_s) override;
  int channels() const override { return channels_; }
  bool has_inverted_channels() const override { return has_inverted_ || mixer_.has_inverted(); }
  int64_t damaged_packets() const override { return 0; }
  std::vector<Unheard> unheard() const override { return file_.unheard(); }
  std::optional<StatedLength> stated_length() const override { return file_.stated_length(); }
  double progress() const override;
  std::string container_name() const override { return "wav"; }
  std::string codec_name() const override;

 private:
  void EnterPart();
  void LeavePart();
  int64_t Pass(int64_t samples);
  void MixUntil(uint64_t end);
  void LookForFile();
  void NoteOtherFile(uint64_t bytes_here);
  void Append(WaveFile next, uint64_t bytes_here);
  const WavePart& part() const { return file_.parts[part_]; }
  const WaveFormat& format() const { return file_.formats[part().format]; }

  ByteSource& source_;
  const DecodeOptions options_;
  const StopSignal& stop_;
  WaveFile file_;
  // By byte order and "fmt ", from which all else follows: joined files may have very many formats.
  std::map<std::pair<bool, std::vector<uint8_t>>, size_t> format_indices_;
  std::vector<size_t> first_parts_;          // per format
  std::vector<std::optional<float>> gains_;  // per format, once known
  int searches_left_;
  bool has_other_file_ = false;

  size_t part_ = 0;
  uint64_t position_ = 0;               // in the part
  uint64_t mix_begin_ = 0;              // in the part: where mixing began, or would have without a Skip()
  uint64_t searched_ = 0;               // in an open-ended part: no file begins before it
  std::optional<WaveSamples> samples_;  // of the part; absent until it is entered
  bool has_inverted_ = false;           // in parts mixed before
  MonoMixer mixer_;
  int channels_;
  std::vector<float> mono_;
  std::vector<uint8_t> pieces_;
};

}  // namespace veravox
