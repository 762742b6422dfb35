// SPDX-License-Identifier: Apache-2.0
#include "decode/mpeg_sync.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace veravox {
namespace {

using Bytes = std::span<const uint8_t>;

// Most junk before the first frame; libavformat's MP3 demuxer has the same limit.
constexpr size_t kSearchBytes = 64 * 1024;
constexpr int kFramesInARow = 4;
// ADTS has the longest frames, of 13 bits.
static_assert(kMpegSearchBytes >= kSearchBytes + kFramesInARow * (size_t{1} << 13) + 6);

struct FrameHeader {
  MpegAudio kind = MpegAudio::kNone;
  uint32_t stream_bits = 0;  // fields that do not change within a stream
  size_t frame_bytes = 0;
};

// ISO/IEC 11172-3 and 13818-3, section 2.4.2.3.
std::optional<FrameHeader> ReadMpegHeader(uint32_t word) {
  constexpr int kBitratesKbps[5][15] = {
      {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},  // MPEG-1 layer I
      {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},     // MPEG-1 layer II
      {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},      // MPEG-1 layer III
      {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},     // MPEG-2 layer I
      {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},          // MPEG-2 layers II and III
  };
  constexpr int kRatesHz[3] = {44100, 48000, 32000};

  const uint32_t version = word >> 19 & 3;  // 0: 2.5, 1: reserved, 2: MPEG-2, 3: MPEG-1
  const uint32_t layer = 4 - (word >> 17 & 3);
  const uint32_t bitrate_index = word >> 12 & 15;
  const uint32_t rate_index = word >> 10 & 3;
  const bool reserved = version == 1 || layer == 4 || bitrate_index == 15 || rate_index == 3;
  const bool free_format = bitrate_index == 0;  // no length in the header, and FFmpeg does not decode it
  if (word >> 21 != 0x7ff || reserved || free_format) return std::nullopt;

  const bool mpeg1 = version == 3;
  const int* bitrates = kBitratesKbps[mpeg1 ? layer - 1 : (layer == 1 ? 3 : 4)];
  const int bitrate_bps = bitrates[bitrate_index] * 1000;
  const int rate_hz = kRatesHz[rate_index] >> (mpeg1 ? 0 : (version == 2 ? 1 : 2));
  const int padding = word >> 9 & 1;
  const int frame_bytes = layer == 1             ? (12 * bitrate_bps / rate_hz + padding) * 4
                          : layer == 3 && !mpeg1 ? 72 * bitrate_bps / rate_hz + padding
                                                 : 144 * bitrate_bps / rate_hz + padding;
  constexpr uint32_t kSyncVersionLayerRate = 0xfffe0c00;
  return FrameHeader{MpegAudio::kMpeg, word & kSyncVersionLayerRate, static_cast<size_t>(frame_bytes)};
}

// ISO/IEC 14496-3, section 1.A.2.2.
std::optional<FrameHeader> ReadAdtsHeader(uint32_t word, uint8_t fifth, uint8_t sixth) {
  constexpr size_t kHeaderBytes = 7;
  const bool layer_is_zero = (word >> 17 & 3) == 0;
  const uint32_t rate_index = word >> 10 & 15;
  const size_t frame_bytes = (word & 3) << 11 | fifth << 3 | sixth >> 5;
  if (word >> 20 != 0xfff || !layer_is_zero || rate_index > 12 || frame_bytes < kHeaderBytes)
    return std::nullopt;
  constexpr uint32_t kSyncProfileRate = 0xfffefc00;
  return FrameHeader{MpegAudio::kAdts, word & kSyncProfileRate, frame_bytes};
}

std::optional<FrameHeader> ReadHeader(Bytes bytes) {
  if (bytes.size() < kMpegHeaderBytes) return std::nullopt;
  const uint32_t word = uint32_t{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
  if (auto adts = ReadAdtsHeader(word, bytes[4], bytes[5])) return adts;
  return ReadMpegHeader(word);
}

// The kind of the frames from `start` on, if enough of them follow each other, or up to the end if that is
// allowed.
MpegAudio FollowFrames(Bytes bytes, size_t start, bool may_end) {
  size_t offset = start;
  std::optional<FrameHeader> first;
  for (int frames = 0; frames < kFramesInARow; ++frames) {
    const bool at_end = offset + kMpegHeaderBytes > bytes.size();
    if (at_end) return first && may_end ? first->kind : MpegAudio::kNone;
    const auto header = ReadHeader(bytes.subspan(offset));
    if (!header || (first && header->stream_bits != first->stream_bits)) return MpegAudio::kNone;
    if (!first) first = header;
    offset += header->frame_bytes;
  }
  return first->kind;
}

}  // namespace

size_t MpegFrameBytes(Bytes bytes, MpegAudio kind) {
  const auto header = ReadHeader(bytes);
  return header && header->kind == kind ? header->frame_bytes : 0;
}

bool IsMpegInfo(Bytes bytes) {
  constexpr std::string_view kNames[] = {"Xing", "Info", "VBRI"};
  return MpegFrameBytes(bytes, MpegAudio::kMpeg) > 0 &&
         std::ranges::any_of(kNames, [&](std::string_view name) {
           return std::search(bytes.begin(), bytes.end(), name.begin(), name.end()) != bytes.end();
         });
}

bool MayBeginMpegAudio(Bytes bytes) {
  const auto first = ReadHeader(bytes);
  if (!first) return false;
  if (first->frame_bytes + kMpegHeaderBytes > bytes.size()) return true;
  const auto second = ReadHeader(bytes.subspan(first->frame_bytes));
  return second && second->stream_bits == first->stream_bits;
}

bool BeginsLikeMpegAudio(Bytes bytes) { return FollowFrames(bytes, 0, false) != MpegAudio::kNone; }

MpegAudio FindMpegAudio(Bytes bytes) {
  const auto end = bytes.begin() + static_cast<ptrdiff_t>(std::min(bytes.size(), kSearchBytes));
  for (auto sync = std::find(bytes.begin(), end, 0xff); sync != end; sync = std::find(sync + 1, end, 0xff)) {
    // A shorter file must consist of frames only.
    const auto kind = FollowFrames(bytes, static_cast<size_t>(sync - bytes.begin()), sync == bytes.begin());
    if (kind != MpegAudio::kNone) return kind;
  }
  return MpegAudio::kNone;
}

}  // namespace veravox
