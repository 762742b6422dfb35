// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "decode/byte_source.h"

namespace veravox {

// A container that may be opened: the whole allow-list. Playlists, subtitle-like text formats and all else
// that FFmpeg could open are not on it.
struct Container {
  const char* name;     // our name for it
  const char* demuxer;  // libavformat's
  // Only the frames state rate and channels, so libavformat has to read some.
  bool parameters_in_frames;
  // Places for tags of foreign kinds, apart from the front.
  enum class Tags { kOwn, kBetweenFrames, kAtTheEnd } tags = Tags::kOwn;
  // Zeros that the last frame may end with; decoders tolerate as many behind it.
  uint64_t zeros_in_frames = 0;
};

// The container of WAV files.
const Container& WaveContainer();

struct SniffedContainer {
  const Container* container = nullptr;  // null: not on the list
  uint64_t offset = 0;                   // where it starts: after any ID3v2 tags, cover art included
};

// Recognises a container by its signature alone: only one demuxer is tried on a file.
SniffedContainer SniffContainer(ByteSource& source);

inline constexpr size_t kFileMarkBytes = 16;
// Whether bytes in the middle of a stream most likely begin a file: by signatures that a day of coded audio
// does not contain by chance. Bare MPEG streams have none. Needs kFileMarkBytes.
bool BeginsLikeFile(std::span<const uint8_t> bytes);

}  // namespace veravox
