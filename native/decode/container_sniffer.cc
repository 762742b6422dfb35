// SPDX-License-Identifier: Apache-2.0
#include "decode/container_sniffer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "decode/file_tags.h"
#include "decode/mpeg_sync.h"
#include "decode/wave_file.h"

namespace veravox {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr Container kWav{"wav", "wav", false};
constexpr Container kAvi{"avi", "avi", false};
constexpr Container kFlac{"flac", "flac", false, Container::Tags::kAtTheEnd, 8};
constexpr Container kOgg{"ogg", "ogg", false};
constexpr Container kMatroska{"matroska", "matroska", false};
constexpr Container kMov{"mov", "mov", false};
constexpr Container kMp3{"mp3", "mp3", true, Container::Tags::kBetweenFrames, 8};
constexpr Container kAac{"aac", "aac", true, Container::Tags::kBetweenFrames};

// ISO base media and QuickTime files start with one of these boxes.
constexpr size_t kMovBoxBytes = 8;
bool StartsWithMovBox(Bytes bytes) {
  constexpr std::array<std::string_view, 9> kFirstBoxes = {"ftyp", "styp", "moov", "mdat", "wide",
                                                           "free", "skip", "pnot", "sidx"};
  return std::any_of(kFirstBoxes.begin(), kFirstBoxes.end(),
                     [&](std::string_view box) { return HasAt(bytes, 4, box); });
}

const Container* MatchSignature(Bytes bytes) {
  if (HasAt(bytes, 0, "RIFF") && HasAt(bytes, 8, "AVI")) return &kAvi;
  if (bytes.size() >= kRiffHeaderBytes && IsWaveHeader(bytes.data())) return &kWav;
  if (HasAt(bytes, 0, "fLaC")) return &kFlac;
  if (HasAt(bytes, 0, "OggS")) return &kOgg;
  if (HasAt(bytes, 0, "\x1a\x45\xdf\xa3")) return &kMatroska;
  return StartsWithMovBox(bytes) ? &kMov : nullptr;
}

const Container* MatchMpegAudio(Bytes bytes) {
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

const Container& WaveContainer() { return kWav; }

SniffedContainer SniffContainer(ByteSource& source) {
  const uint64_t offset = EndOfTags(source, 0);
  std::vector<uint8_t> pieces;
  const auto bytes_at = [&](uint64_t at) { return ReadInARow(source, at, kMpegSearchBytes, pieces); };
  if (const Container* container = MatchSignature(bytes_at(offset))) return {container, offset};

  const uint64_t behind_zeros = EndOfTagsAndZeros(source, offset);
  if (behind_zeros == offset) return {MatchMpegAudio(bytes_at(offset)), offset};
  // The first box of a MOV file may begin with up to three zeros of its own, which are part of its size.
  constexpr uint64_t kMostOwnZeros = 3;
  for (uint64_t at = behind_zeros - std::min(behind_zeros - offset, kMostOwnZeros); at < behind_zeros; ++at) {
    if (StartsWithMovBox(ReadInARow(source, at, kMovBoxBytes, pieces))) return {&kMov, at};
  }
  // First, since other containers may hold frames of MPEG audio.
  if (const Container* container = MatchSignature(bytes_at(behind_zeros))) return {container, behind_zeros};
  for (const uint64_t at : {offset, behind_zeros}) {
    if (const Container* container = MatchMpegAudio(bytes_at(at))) return {container, at};
  }
  return {nullptr, behind_zeros};
}

bool BeginsLikeFile(Bytes bytes) {
  if (bytes.size() < kFileMarkBytes) return false;
  switch (bytes[0]) {
    case 'R':
    case 'B':
      return IsWaveHeader(bytes.data()) || (HasAt(bytes, 0, "RIFF") && HasAt(bytes, 8, "AVI "));
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
