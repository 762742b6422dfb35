// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace veravox {

enum class MpegAudio {
  kNone,
  kMpeg,  // MPEG-1/2/2.5 layers I to III
  kAdts,  // AAC in ADTS frames
};

// The search never goes further than this.
constexpr size_t kMpegSearchBytes = 96 * 1024 + 6;

// Bare MPEG streams have no signature but an 11-bit sync word, which any data contains. They are recognised
// by headers exactly one frame length apart, near the start.
MpegAudio FindMpegAudio(std::span<const uint8_t> bytes);

// Cheaply, whether frames may begin right here.
bool MayBeginMpegAudio(std::span<const uint8_t> bytes);

// Whether frames begin right here and several follow each other, in any data.
constexpr size_t kMpegBeginBytes = 32 * 1024;
bool BeginsLikeMpegAudio(std::span<const uint8_t> bytes);

// The length of the frame that begins with these bytes; 0 if they are not the header of this kind.
constexpr size_t kMpegHeaderBytes = 6;
size_t MpegFrameBytes(std::span<const uint8_t> bytes, MpegAudio kind);

// Whether the first frame of a file begins with these bytes: it describes the others, and has no audio.
constexpr size_t kMpegInfoBytes = 64;
bool IsMpegInfo(std::span<const uint8_t> bytes);

// Between frames or behind the last one: zeros, or the ends of lines that some programs add.
constexpr bool IsMpegPadding(uint8_t byte) { return byte == 0 || byte == '\r' || byte == '\n'; }

}  // namespace veravox
