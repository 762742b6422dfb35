// SPDX-License-Identifier: Apache-2.0
#include "decode/hidden_frames.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "decode/mpeg_sync.h"

namespace veravox {
namespace {

using Bytes = std::span<const uint8_t>;

// RFC 9639, section 9.1.8.
uint8_t Crc8(Bytes bytes) {
  constexpr int kPolynomial = 0x107;
  int crc = 0;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc << 1 ^ ((crc & 0x80) != 0 ? kPolynomial : 0);
  }
  return static_cast<uint8_t>(crc);
}

// RFC 9639, section 9.1: whether a frame header begins here, by its fields and checksum.
bool IsFlacHeader(Bytes bytes) {
  constexpr size_t kFixedBytes = 4;
  if (bytes.size() < kFixedBytes + 2 || bytes[0] != 0xff || (bytes[1] & 0xfe) != 0xf8) return false;
  const int block_size = bytes[2] >> 4, rate = bytes[2] & 15, channels = bytes[3] >> 4;
  const int depth = bytes[3] >> 1 & 7;
  if (block_size == 0 || rate == 15 || channels > 10 || depth == 3 || (bytes[3] & 1) != 0) return false;
  // The frame number is coded as in UTF-8.
  const int ones = std::countl_one(bytes[kFixedBytes]);
  if (ones == 1 || ones > 7) return false;
  size_t size = kFixedBytes + static_cast<size_t>(std::max(ones, 1));
  size += block_size == 6 ? 1 : block_size == 7 ? 2 : 0;
  size += rate == 12 ? 1 : rate == 13 || rate == 14 ? 2 : 0;
  return size < bytes.size() && Crc8(bytes.first(size)) == bytes[size];
}

// Counts the frames that begin before byte `end`.
size_t CountFlacFrames(Bytes bytes, size_t end) {
  size_t count = 0;
  const auto last = bytes.begin() + static_cast<ptrdiff_t>(std::min(end, bytes.size()));
  for (auto sync = std::find(bytes.begin(), last, 0xff); sync != last;
       sync = std::find(sync + 1, last, 0xff)) {
    if (IsFlacHeader(bytes.subspan(static_cast<size_t>(sync - bytes.begin())))) ++count;
  }
  return count;
}

}  // namespace

bool HoldsFrames(ByteSource& source, const ByteRange& range) {
  constexpr uint64_t kStepBytes = 64 * 1024;
  // A single FLAC header may occur by chance.
  constexpr size_t kFlacFrames = 2;
  std::vector<uint8_t> pieces;
  size_t flac_frames = 0;
  for (uint64_t at = 0; at < range.bytes; at += kStepBytes) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(range.bytes - at, kMpegSearchBytes));
    const Bytes bytes = ReadInARow(source, range.begin + at, count, pieces);
    if (FindMpegAudio(bytes) != MpegAudio::kNone) return true;
    flac_frames += CountFlacFrames(bytes, kStepBytes);
    if (flac_frames >= kFlacFrames) return true;
  }
  return false;
}

}  // namespace veravox
