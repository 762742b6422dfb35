// SPDX-License-Identifier: Apache-2.0
#include "decode/wave_packets.h"

#include <memory>
#include <string_view>

#include "decode/container_sniffer.h"
#include "decode/spliced_source.h"

namespace veravox {
namespace {

void AppendText(std::vector<uint8_t>& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

void AppendSize(std::vector<uint8_t>& bytes, uint64_t size, bool big_endian) {
  for (int i = 0; i < 4; ++i) {
    const int shift = 8 * (big_endian ? 3 - i : i);
    bytes.push_back(static_cast<uint8_t>(size >> shift & 0xff));
  }
}

std::vector<uint8_t> HeaderOf(const WaveFormat& format, uint64_t samples_bytes) {
  // libavformat reads a size of 0 as a stream: until the end.
  const uint64_t stated = samples_bytes <= 0xffffffff ? samples_bytes : 0;
  std::vector<uint8_t> header;
  AppendText(header, format.big_endian ? "RIFX" : "RIFF");
  AppendSize(header, 0, format.big_endian);
  AppendText(header, "WAVEfmt ");
  AppendSize(header, format.chunk.size(), format.big_endian);
  header.insert(header.end(), format.chunk.begin(), format.chunk.end());
  if (format.chunk.size() % 2 != 0) header.push_back(0);
  AppendText(header, "data");
  AppendSize(header, stated, format.big_endian);
  return header;
}

bool IsOfFirstFormat(const WaveFile& file, const WavePart& part) {
  return part.format == file.parts.front().format;
}

std::unique_ptr<ByteSource> SamplesOf(ByteSource& source, const WaveFile& file) {
  std::vector<ByteRange> ranges;
  uint64_t bytes = 0;
  for (const WavePart& part : file.parts) {
    if (!IsOfFirstFormat(file, part)) continue;
    ranges.push_back({part.begin, part.bytes});
    bytes += part.bytes;
  }
  const WaveFormat& format = file.formats[file.parts.front().format];
  return std::make_unique<SplicedSource>(source, HeaderOf(format, bytes), ranges);
}

}  // namespace

WavePackets::WavePackets(ByteSource& source, const WaveFile& file, const StopSignal& stop)
    : FilePackets(SamplesOf(source, file), 0, WaveContainer(), stop),
      file_(OnlyHeard(file, [&](const WavePart& part) { return IsOfFirstFormat(file, part); })) {}

}  // namespace veravox
