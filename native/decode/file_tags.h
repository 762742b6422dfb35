// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "decode/byte_source.h"

namespace veravox {

inline constexpr std::string_view kBeginOfLyrics = "LYRICSBEGIN";
// Writers that miscount leave as many.
inline constexpr uint64_t kFewBytes = 16;

// Whether `bytes` has `text` at `offset`.
bool HasAt(std::span<const uint8_t> bytes, size_t offset, std::string_view text);

// The end of the tags (ID3v1, ID3v2, APE, Lyrics3) and zeros that start at `offset`, one after another;
// `offset` if there are none. At most the size of the source.
uint64_t EndOfTagsAndZeros(ByteSource& source, uint64_t offset);

// The same for tags alone, as in front of the audio.
uint64_t EndOfTags(ByteSource& source, uint64_t offset);

// The same for zeros alone.
uint64_t EndOfZeros(ByteSource& source, uint64_t offset);

// The beginning of the tags and zeros that end the source; its size if there are none. Ignores everything
// before `from`, and ID3v2 tags that begin before the last two MiB. Bytes that hold frames are not a tag. The
// last frame may end with `zeros_in_frames` zeros, which are kept.
uint64_t BeginOfLastTags(ByteSource& source, uint64_t from, uint64_t zeros_in_frames);

// Whether more than tags, zeros and a few bytes follow from `from` on.
bool HoldsMoreThanTags(ByteSource& source, uint64_t from);

}  // namespace veravox
