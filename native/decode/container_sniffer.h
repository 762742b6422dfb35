// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "decode/byte_source.h"

namespace veravox {

// A container that may be opened: the whole allow-list. Playlists, subtitle-like text formats and everything
// else that FFmpeg could open is not on it.
struct Container {
  const char* name;     // our name for it
  const char* demuxer;  // libavformat's
  // Whether the rate and channels stand only in the frames, so that libavformat has to look into some.
  bool parameters_in_frames;
  // Where tags of other kinds than the container's own may stand, besides in front of it.
  enum class Tags { kOwn, kBetweenFrames, kAtTheEnd } tags = Tags::kOwn;
  // That the last frame may end with; decoders bear as many behind it.
  uint64_t zeros_in_frames = 0;
};

// The one of WAV files.
const Container& WaveContainer();

struct SniffedContainer {
  const Container* container = nullptr;  // null: not one of ours
  uint64_t offset = 0;                   // where it starts: after any ID3v2 tags, cover art included
};

// Recognises a container by its signature alone: one demuxer is ever tried on a file.
SniffedContainer SniffContainer(ByteSource& source);

// Whether bytes from the middle of a stream most likely begin a file: signatures that chance does not make in
// a day of coded audio. Bare MPEG streams have none.
bool BeginsLikeFile(std::span<const uint8_t> bytes);

}  // namespace veravox
