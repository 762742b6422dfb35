// SPDX-License-Identifier: Apache-2.0
#include "decode/file_tags.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "decode/big_endian.h"
#include "decode/hidden_frames.h"

namespace veravox {
namespace {

using Bytes = std::span<const uint8_t>;

// Far more than real files have: tags in a row, and frames per tag.
constexpr int kMaxTags = 1000;
constexpr size_t kId3HeaderBytes = 10;
constexpr size_t kId3v1Bytes = 128;
constexpr size_t kApeHeaderBytes = 32;

// A number with seven bits per byte; none if a byte has eight.
std::optional<uint64_t> Syncsafe(Bytes bytes) {
  if (std::any_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte > 0x7f; })) return {};
  return BigEndian(bytes, 7);
}

// The frames of an ID3v2 tag (https://id3.org/id3v2.3.0, https://id3.org/id3v2.4.0-structure), from which its
// size also follows.
class Id3Frames {
 public:
  Id3Frames(ByteSource& source, uint8_t version)
      : source_(source), version_(version), id_bytes_(version == 2 ? 3 : 4) {}

  // The end of the last frame in the run that starts at `offset`, if there is one.
  std::optional<uint64_t> End(uint64_t offset) {
    std::optional<uint64_t> end;
    for (int frames = 0; frames < kMaxTags; ++frames) {
      const std::optional<uint64_t> next = Next(offset);
      if (!next) break;
      end = offset = *next;
    }
    return end;
  }

 private:
  bool IsFrameAt(uint64_t offset) {
    const Bytes id = ReadInARow(source_, offset, id_bytes_, pieces_);
    return id.size() == id_bytes_ && std::all_of(id.begin(), id.end(), [](uint8_t letter) {
             return (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
           });
  }

  std::optional<uint64_t> Next(uint64_t offset) {
    if (!IsFrameAt(offset)) return {};
    const size_t header_bytes = version_ == 2 ? 6 : 10;
    const Bytes header = ReadInARow(source_, offset, header_bytes, pieces_);
    if (header.size() < header_bytes) return {};
    const Bytes size = header.subspan(id_bytes_, version_ == 2 ? 3 : 4);
    const uint64_t body = offset + header_bytes;
    const uint64_t plain_end = body + BigEndian(size);
    const std::optional<uint64_t> syncsafe = version_ == 4 ? Syncsafe(size) : std::nullopt;
    // Some writers of version 4 also state plain sizes in frames.
    const bool is_plain =
        !syncsafe || (body + *syncsafe != plain_end && !IsFrameAt(body + *syncsafe) && IsFrameAt(plain_end));
    const uint64_t end = is_plain ? plain_end : body + *syncsafe;
    if (end > source_.size()) return {};
    return end;
  }

  ByteSource& source_;
  const uint8_t version_;
  const size_t id_bytes_;
  std::vector<uint8_t> pieces_;
};

// The end of the ID3v2 tag at `offset`, if there is one. It may lie past the end of the source.
std::optional<uint64_t> EndOfId3v2(ByteSource& source, uint64_t offset) {
  constexpr uint8_t kHasExtendedHeader = 0x40, kHasFooter = 0x10;
  std::vector<uint8_t> pieces;
  const Bytes header = ReadInARow(source, offset, kId3HeaderBytes, pieces);
  if (header.size() < kId3HeaderBytes || !HasAt(header, 0, "ID3")) return {};
  const uint8_t version = header[3], flags = header[5];
  const uint64_t body = offset + kId3HeaderBytes;
  const uint64_t footer = (flags & kHasFooter) != 0 ? kId3HeaderBytes : 0;
  const uint64_t plain_end = body + BigEndian(header.subspan(6, 4)) + footer;
  const std::optional<uint64_t> syncsafe = Syncsafe(header.subspan(6, 4));
  const uint64_t end = syncsafe ? body + *syncsafe + footer : plain_end;

  // Some writers state the size as a plain integer, or one that differs from the frames.
  if (version < 2 || version > 4 || (flags & kHasExtendedHeader) != 0) return end;
  const std::optional<uint64_t> frames_end = Id3Frames(source, version).End(body);
  if (!frames_end || (*frames_end <= end && end <= source.size())) return end;
  return plain_end >= *frames_end && plain_end <= source.size() ? plain_end : *frames_end;
}

// https://wiki.hydrogenaud.io/index.php?title=APEv2_specification: a header, or a footer in its place. The
// size in either includes the footer, but not the header.
std::optional<uint64_t> ApeSize(Bytes header) {
  if (header.size() < kApeHeaderBytes || !HasAt(header, 0, "APETAGEX")) return {};
  return uint64_t{header[12]} | uint64_t{header[13]} << 8 | uint64_t{header[14]} << 16 |
         uint64_t{header[15]} << 24;
}

std::optional<uint64_t> EndOfApe(ByteSource& source, uint64_t offset) {
  std::vector<uint8_t> pieces;
  const auto size = ApeSize(ReadInARow(source, offset, kApeHeaderBytes, pieces));
  if (!size) return {};
  return offset + kApeHeaderBytes + *size;
}

// https://id3.org/Lyrics3v2: ends with a keyword before an ID3v1 tag.
constexpr std::array<std::string_view, 2> kEndsOfLyrics = {"LYRICS200", "LYRICSEND"};
constexpr size_t kEndOfLyricsBytes = kEndsOfLyrics[0].size();
constexpr size_t kMostLyricsBytes = 1'000'000;

std::string_view TextOf(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::optional<uint64_t> EndOfLyrics3(ByteSource& source, uint64_t offset) {
  // Steps, since many short tags may follow each other.
  constexpr size_t kStepBytes = 4096;
  std::vector<uint8_t> pieces;
  if (!HasAt(ReadInARow(source, offset, kBeginOfLyrics.size(), pieces), 0, kBeginOfLyrics)) return {};
  for (uint64_t at = offset; at < offset + kMostLyricsBytes; at += kStepBytes) {
    const std::string_view text = TextOf(ReadInARow(source, at, kStepBytes + kEndOfLyricsBytes - 1, pieces));
    const size_t found = std::min(text.find(kEndsOfLyrics[0]), text.find(kEndsOfLyrics[1]));
    if (found != std::string_view::npos) return at + found + kEndOfLyricsBytes;
    if (text.size() < kStepBytes) break;
  }
  return {};
}

std::optional<uint64_t> EndOfId3v1(ByteSource& source, uint64_t offset) {
  std::vector<uint8_t> pieces;
  if (!HasAt(ReadInARow(source, offset, 3, pieces), 0, "TAG")) return {};
  return offset + kId3v1Bytes;
}

std::optional<uint64_t> EndOfOneTag(ByteSource& source, uint64_t offset) {
  for (const auto end_of : {EndOfId3v2, EndOfId3v1, EndOfApe, EndOfLyrics3}) {
    if (const auto end = end_of(source, offset)) return std::min(*end, source.size());
  }
  return {};
}

// The beginning of a tag that is recognised by its end, which is at `end`.
std::optional<uint64_t> BeginOfOneTag(ByteSource& source, uint64_t from, uint64_t end) {
  std::vector<uint8_t> pieces;
  const uint64_t longest = end - from;
  if (longest >= kId3v1Bytes && HasAt(ReadInARow(source, end - kId3v1Bytes, 3, pieces), 0, "TAG")) {
    return end - kId3v1Bytes;
  }
  if (longest >= kApeHeaderBytes) {
    const auto size = ApeSize(ReadInARow(source, end - kApeHeaderBytes, kApeHeaderBytes, pieces));
    if (size && *size <= longest) {
      const bool has_header =
          longest - *size >= kApeHeaderBytes &&
          ApeSize(ReadInARow(source, end - *size - kApeHeaderBytes, kApeHeaderBytes, pieces));
      return end - *size - (has_header ? kApeHeaderBytes : 0);
    }
  }
  return {};
}

// Some writers count a header too many or too few.
constexpr uint64_t kMiscount = 10;

// The beginning of the Lyrics3 tag at the end of `text`: of those behind all ends but the last, the first.
// All words are looked for once: a search from each beginning to its end would read the same bytes again and
// again.
std::optional<size_t> BeginOfLastLyrics3(std::string_view text) {
  const auto is_end = [&](size_t at) {
    return std::any_of(std::begin(kEndsOfLyrics), std::end(kEndsOfLyrics),
                       [&](std::string_view word) { return text.substr(at).starts_with(word); });
  };
  std::optional<size_t> last;
  const size_t tail = text.size() - std::min(text.size(), kEndOfLyricsBytes + kMiscount);
  for (size_t at = tail; at < text.size(); ++at) {
    if (is_end(at)) last = at;
  }
  if (!last) return {};
  const size_t end = *last + kEndOfLyricsBytes;
  const std::string_view first_letters = kBeginOfLyrics.substr(0, 6);
  std::optional<size_t> begin;
  for (size_t at = text.find(first_letters, end - std::min(end, kMostLyricsBytes)); at < *last;
       at = text.find(first_letters, at + first_letters.size())) {
    if (is_end(at)) begin.reset();
    if (!begin && text.substr(at).starts_with(kBeginOfLyrics)) begin = at;
  }
  return begin;
}

// Recognises ID3v2 and Lyrics3 tags by their beginning, and ID3v1 tags in front of zeros. The tag ends
// between `end` and `zeros_end`.
std::optional<uint64_t> BeginOfTagBefore(ByteSource& source, uint64_t from, uint64_t end,
                                         uint64_t zeros_end) {
  constexpr uint64_t kMostBytes = 2 * 1024 * 1024;
  const uint64_t begin = end - std::min(end - from, kMostBytes);
  // A copy, since looking at tags reads from the source.
  std::vector<uint8_t> bytes(static_cast<size_t>(end - begin));
  bytes.resize(CopyFrom(source, begin, bytes));
  const std::string_view text = TextOf(bytes);
  for (const std::string_view first : {std::string_view("ID3"), kBeginOfLyrics, std::string_view("TAG")}) {
    if (first == kBeginOfLyrics) {
      if (const auto lyrics = BeginOfLastLyrics3(text)) return begin + *lyrics;
      continue;
    }
    size_t found = text.find(first);
    for (int tries = 0; found != std::string_view::npos && tries < kMaxTags; ++tries) {
      const auto tag_end = EndOfOneTag(source, begin + found);
      if (tag_end && *tag_end + kMiscount >= end && *tag_end <= zeros_end + kMiscount) return begin + found;
      found = text.find(first, found + 1);
    }
  }
  return {};
}

uint64_t BeginOfZeros(ByteSource& source, uint64_t from, uint64_t end, uint64_t zeros_in_frames) {
  constexpr uint64_t kStepBytes = 4096;
  std::vector<uint8_t> pieces;
  uint64_t begin = end;
  while (begin > from) {
    const uint64_t step = std::min(begin - from, kStepBytes);
    const Bytes bytes = ReadInARow(source, begin - step, static_cast<size_t>(step), pieces);
    const auto last = std::find_if(bytes.rbegin(), bytes.rend(), [](uint8_t byte) { return byte != 0; });
    const auto zeros = static_cast<uint64_t>(last - bytes.rbegin());
    begin -= zeros;
    if (zeros < step) break;
  }
  return std::min(end, begin + zeros_in_frames);
}

LastTags SearchLastTags(ByteSource& source, uint64_t from, uint64_t zeros_in_frames) {
  constexpr int kMostLastTags = 8;
  uint64_t end = source.size();
  for (int tags = 0; tags < kMostLastTags && end > from; ++tags) {
    // A tag may end with zeros of its own.
    if (const auto begin = BeginOfOneTag(source, from, end)) {
      end = *begin;
      continue;
    }
    const uint64_t before = end;
    end = BeginOfZeros(source, from, end, zeros_in_frames);
    if (const auto begin = BeginOfTagBefore(source, from, end, before)) end = *begin;
    if (end == before) break;
  }
  return {from, zeros_in_frames, source.size(), end, HoldsFrames(source, {end, source.size() - end})};
}

LastTags FindLastTags(ByteSource& source, uint64_t from, uint64_t zeros_in_frames) {
  const auto is_known = [&](const LastTags& known) {
    return known.from <= from && from <= known.begin && known.zeros_in_frames == zeros_in_frames &&
           known.size == source.size();
  };
  std::vector<LastTags>& all = source.last_tags;
  const auto known = std::find_if(all.begin(), all.end(), is_known);
  if (known != all.end()) return *known;
  std::erase_if(all, [&](const LastTags& other) { return other.zeros_in_frames == zeros_in_frames; });
  return all.emplace_back(SearchLastTags(source, from, zeros_in_frames));
}

}  // namespace

bool HasAt(std::span<const uint8_t> bytes, size_t offset, std::string_view text) {
  return offset <= bytes.size() && bytes.size() - offset >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin() + static_cast<ptrdiff_t>(offset),
                    [](char c, uint8_t byte) { return static_cast<uint8_t>(c) == byte; });
}

uint64_t EndOfZeros(ByteSource& source, uint64_t offset) {
  constexpr size_t kStepBytes = 64 * 1024;
  while (offset < source.size()) {
    const Bytes bytes = source.Read(offset, kStepBytes);
    const auto other = std::find_if(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte != 0; });
    offset += static_cast<uint64_t>(other - bytes.begin());
    if (other != bytes.end()) break;
  }
  return std::min(offset, source.size());
}

uint64_t EndOfTags(ByteSource& source, uint64_t offset) {
  for (int tags = 0; tags < kMaxTags; ++tags) {
    const auto end = EndOfOneTag(source, offset);
    if (!end) break;
    offset = *end;
  }
  return std::min(offset, source.size());
}

uint64_t EndOfTagsAndZeros(ByteSource& source, uint64_t offset) {
  for (int rounds = 0; rounds < kMaxTags; ++rounds) {
    const uint64_t end = EndOfZeros(source, EndOfTags(source, offset));
    if (end == offset) break;
    offset = end;
  }
  return offset;
}

uint64_t BeginOfLastTags(ByteSource& source, uint64_t from, uint64_t zeros_in_frames) {
  const auto [whole, offset] = source.Whole();
  const LastTags found = FindLastTags(*whole, offset + from, zeros_in_frames);
  return (found.hold_frames ? whole->size() : found.begin) - offset;
}

bool HoldsMoreThanTags(ByteSource& source, uint64_t from) {
  return source.size() > from + kFewBytes && BeginOfLastTags(source, from, 0) > from;
}

}  // namespace veravox
