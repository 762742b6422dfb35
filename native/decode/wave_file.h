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

// How samples are coded that WaveSource reads itself; of both byte orders.
enum class WaveCoding { kU8, kS16, kS24, kS32, kF32, kF64, kALaw, kMuLaw };

size_t SampleBytes(WaveCoding coding);

struct WaveFormat {
  std::vector<uint8_t> chunk;        // the body of "fmt "
  bool big_endian = false;           // RIFX
  std::optional<WaveCoding> coding;  // absent: libavformat decides about it
  int channels = 0;
  int sample_rate_hz = 0;
  uint64_t channel_mask = 0;  // 0: not stated
  size_t frame_bytes = 0;
  double bytes_per_s = 0.0;  // 0: not stated

  bool operator==(const WaveFormat&) const = default;
};

// Samples in a row.
struct WavePart {
  size_t format = 0;  // in WaveFile::formats
  uint64_t begin = 0;
  uint64_t bytes = 0;          // whole frames only
  uint64_t missing_bytes = 0;  // that the header promises besides
  // Lasts until the end of the file, for want of another size: the next WAV file may begin inside.
  bool open_ended = false;
};

// Bytes that are not among the parts.
struct WaveGap {
  size_t parts_before = 0;
  uint64_t bytes = 0;
  std::string what;
};

// All samples of a WAV, RIFX, RF64 or BW64 file: of each data chunk, and of the WAV files that follow.
struct WaveFile {
  std::vector<WaveFormat> formats;  // each once
  std::vector<WavePart> parts;
  std::vector<WaveGap> gaps;
  std::vector<std::string> chunk_ids;  // the first few, for messages

  // Of the parts before this one.
  double SecondsBefore(size_t part) const;
  std::vector<Unheard> unheard() const;
  std::optional<StatedLength> stated_length() const;
};

// The file starts at `begin`, with a RIFF header or one of its relatives.
WaveFile ReadWaveFile(ByteSource& source, uint64_t begin);

// Makes gaps of all parts but those that `is_heard` takes.
WaveFile OnlyHeard(const WaveFile& file, const std::function<bool(const WavePart&)>& is_heard);
// Of all parts but those that WaveSource can read.
WaveFile OnlyOwnCodings(const WaveFile& file);

// Whether a WAV file may start with these bytes, of which there are at least kRiffHeaderBytes.
constexpr size_t kRiffHeaderBytes = 12;
bool IsWaveHeader(const uint8_t* bytes);

}  // namespace veravox
