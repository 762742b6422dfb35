// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "decode/byte_source.h"

namespace veravox {

// Whether these bytes stand there.
bool HasAt(std::span<const uint8_t> bytes, size_t offset, std::string_view text);

// The end of the tags (ID3v1, ID3v2, APE, Lyrics3) and zeros that stand at `offset`, one after the other;
// `offset` if there are none. At most the size of the source.
uint64_t EndOfTagsAndZeros(ByteSource& source, uint64_t offset);

// The same of tags alone, as they stand in front of the audio.
uint64_t EndOfTags(ByteSource& source, uint64_t offset);

// Of zeros alone.
uint64_t EndOfZeros(ByteSource& source, uint64_t offset);

// The beginning of the tags and zeros that end the source; its size if there are none. Nothing before `from`
// is looked at, and an ID3v2 tag is found if it begins in the last two MiB. What holds frames is no tag.
// The last frame may end with `zeros_in_frames` zeros, which are left.
uint64_t BeginOfLastTags(ByteSource& source, uint64_t from, uint64_t zeros_in_frames);

}  // namespace veravox
