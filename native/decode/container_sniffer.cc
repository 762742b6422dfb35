// SPDX-License-Identifier: Apache-2.0
#include "decode/container_sniffer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "decode/mpeg_sync.h"

namespace veravox {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr Container kWav{"wav", "wav", false};
constexpr Container kAvi{"avi", "avi", false};
constexpr Container kFlac{"flac", "flac", false};
constexpr Container kOgg{"ogg", "ogg", false};
constexpr Container kMatroska{"matroska", "matroska", false};
constexpr Container kMov{"mov", "mov", false};
constexpr Container kMp3{"mp3", "mp3", true};
constexpr Container kAac{"aac", "aac", true};

bool HasAt(Bytes bytes, size_t offset, std::string_view text) {
  return offset <= bytes.size() && bytes.size() - offset >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin() + static_cast<ptrdiff_t>(offset),
                    [](char c, uint8_t byte) { return static_cast<uint8_t>(c) == byte; });
}

// Bytes of the ID3v2 tags at the start; some writers put several (https://id3.org/id3v2.4.0-structure).
uint64_t Id3TagBytes(ByteSource& source) {
  constexpr size_t kHeaderBytes = 10;
  constexpr int kMaxTags = 1000;
  uint64_t offset = 0;
  std::vector<uint8_t> pieces;
  for (int tags = 0; tags < kMaxTags; ++tags) {
    const Bytes header = ReadInARow(source, offset, kHeaderBytes, pieces);
    if (header.size() < kHeaderBytes || !HasAt(header, 0, "ID3")) break;
    size_t body = 0;
    for (size_t i = 6; i < kHeaderBytes; ++i) body = body << 7 | (header[i] & 0x7f);
    const bool has_footer = (header[5] & 0x10) != 0;
    offset += kHeaderBytes + body + (has_footer ? kHeaderBytes : 0);
  }
  return std::min(offset, source.size());
}

// ISO base media and QuickTime files start with one of these boxes.
bool StartsWithMovBox(Bytes bytes) {
  constexpr std::array<std::string_view, 9> kFirstBoxes = {"ftyp", "styp", "moov", "mdat", "wide",
                                                           "free", "skip", "pnot", "sidx"};
  return std::any_of(kFirstBoxes.begin(), kFirstBoxes.end(),
                     [&](std::string_view box) { return HasAt(bytes, 4, box); });
}

const Container* MatchSignature(Bytes bytes) {
  if (HasAt(bytes, 0, "RIFF") && HasAt(bytes, 8, "AVI")) return &kAvi;
  for (const char* riff : {"RIFF", "RIFX", "RF64", "BW64"}) {
    if (HasAt(bytes, 0, riff) && HasAt(bytes, 8, "WAVE")) return &kWav;
  }
  if (HasAt(bytes, 0, "fLaC")) return &kFlac;
  if (HasAt(bytes, 0, "OggS")) return &kOgg;
  if (HasAt(bytes, 0, "\x1a\x45\xdf\xa3")) return &kMatroska;
  if (StartsWithMovBox(bytes)) return &kMov;
  switch (FindMpegAudio(bytes)) {
    case MpegAudio::kMpeg:
      return &kMp3;
    case MpegAudio::kAdts:
      return &kAac;
    case MpegAudio::kNone:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

SniffedContainer SniffContainer(ByteSource& source) {
  const uint64_t offset = Id3TagBytes(source);
  std::vector<uint8_t> pieces;
  return {MatchSignature(ReadInARow(source, offset, kMpegSearchBytes, pieces)), offset};
}

bool BeginsLikeFile(Bytes bytes) {
  constexpr size_t kLookBytes = 16;
  if (bytes.size() < kLookBytes) return false;
  switch (bytes[0]) {
    case 'R':
      return HasAt(bytes, 0, "RIFF") && (HasAt(bytes, 8, "WAVE") || HasAt(bytes, 8, "AVI "));
    case 'f':
      return HasAt(bytes, 0, "fLaC") && (bytes[4] & 0x7f) == 0 &&
             HasAt(bytes, 5, std::string_view("\0\0\x22", 3));
    case 'O':
      return HasAt(bytes, 0, std::string_view("OggS\0\2", 6));
    case 'I':
      return HasAt(bytes, 0, "ID3") && bytes[3] <= 4 && bytes[4] == 0 && (bytes[5] & 0x0f) == 0;
    case 0x1a: {  // with its version or its type first
      constexpr std::string_view kVersion("\x42\x86"), kType("\x42\x82");
      return HasAt(bytes, 0, "\x1a\x45\xdf\xa3") && (HasAt(bytes, 5, kVersion) || HasAt(bytes, 5, kType) ||
                                                     HasAt(bytes, 12, kVersion) || HasAt(bytes, 12, kType));
    }
    case 0:
      return bytes[1] == 0 && bytes[2] == 0 && HasAt(bytes, 4, "ftyp");
    default:
      return false;
  }
}

}  // namespace veravox
