// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "decode/byte_source.h"
#include "decode/unheard.h"

namespace veravox {

// Codings of samples that WaveSource reads itself, in both byte orders.
enum class WaveCoding { kU8, kS16, kS24, kS32, kF32, kF64, kALaw, kMuLaw };

size_t SampleBytes(WaveCoding coding);

struct WaveFormat {
  std::vector<uint8_t> chunk;        // the body of "fmt "
  bool big_endian = false;           // RIFX
  std::optional<WaveCoding> coding;  // absent: left to libavformat
  int channels = 0;
  int sample_rate_hz = 0;
  uint64_t channel_mask = 0;  // 0: not stated
  size_t frame_bytes = 0;
  double bytes_per_s = 0.0;  // 0: not stated

  bool operator==(const WaveFormat&) const = default;
};

// A run of samples.
struct WavePart {
  size_t format = 0;  // index into WaveFile::formats
  uint64_t begin = 0;
  uint64_t bytes = 0;          // whole frames only
  uint64_t missing_bytes = 0;  // further bytes that the header promises
  // Lasts until the end of the file, as no other size is known: the next WAV file may begin inside.
  bool open_ended = false;
  bool is_other_file = false;  // of another format, heard as samples
};

// Bytes outside the parts.
struct WaveGap {
  size_t parts_before = 0;
  uint64_t bytes = 0;
  std::string what;
};

// All samples of a WAV, RIFX, RF64 or BW64 file: from each data chunk, and from the WAV files that follow.
struct WaveFile {
  std::vector<WaveFormat> formats;  // each once
  std::vector<WavePart> parts;
  std::vector<WaveGap> gaps;
  std::vector<std::string> chunk_ids;  // the first few, for messages

  // Duration of the parts before this one.
  double SecondsBefore(size_t part) const;
  std::vector<Unheard> unheard() const;
  std::optional<StatedLength> stated_length() const;
};

// The file starts at `begin`, with a RIFF header or one of its relatives.
WaveFile ReadWaveFile(ByteSource& source, uint64_t begin);

// Turns all parts that `is_heard` rejects into gaps.
WaveFile OnlyHeard(const WaveFile& file, const std::function<bool(const WavePart&)>& is_heard);
// Turns all parts that WaveSource cannot read into gaps.
WaveFile OnlyOwnCodings(const WaveFile& file);

// Whether a WAV file may start with these bytes; `bytes` has at least kRiffHeaderBytes.
constexpr size_t kRiffHeaderBytes = 12;
bool IsWaveHeader(const uint8_t* bytes);

}  // namespace veravox
