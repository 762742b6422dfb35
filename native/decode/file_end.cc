// SPDX-License-Identifier: Apache-2.0
#include "decode/file_end.h"

extern "C" {
#include <libavutil/crc.h>
}

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "decode/big_endian.h"
#include "decode/file_tags.h"
#include "decode/matroska_element.h"
#include "decode/mpeg_sync.h"

namespace veravox {
namespace {

// Far more than the parts of a day of audio.
constexpr int kMaxSteps = 10'000'000;
// Most searches for a file of another kind; each reads part of it.
constexpr int kMaxLooks = 50;
constexpr int kMaxTagSearches = 3;

uint32_t LittleEndian32(std::span<const uint8_t> bytes, size_t offset) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Two digits for the stream of an AVI file, and two letters for the kind of data.
bool IsStreamChunk(std::span<const uint8_t> chunk) {
  const auto is_digit = [](uint8_t c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [](uint8_t c) { return c >= 'a' && c <= 'z'; };
  return is_digit(chunk[0]) && is_digit(chunk[1]) && is_letter(chunk[2]) && is_letter(chunk[3]);
}

}  // namespace

FileEnd::FileEnd(ByteSource& source, uint64_t begin, const Container& container)
    : source_(source),
      begin_(begin),
      next_(begin),
      end_(source.size()),
      steps_left_(kMaxSteps),
      looks_left_(kMaxLooks),
      tag_searches_left_(kMaxTagSearches) {
  const std::string_view name = container.name;
  kind_ = name == "ogg"        ? Kind::kOgg
          : name == "mov"      ? Kind::kMov
          : name == "avi"      ? Kind::kAvi
          : name == "matroska" ? Kind::kMatroska
                               : Kind::kNone;
}

uint64_t FileEnd::Before(uint64_t offset) {
  while (kind_ != Kind::kNone && next_ < std::min(offset, end_)) Step();
  return end_;
}

void FileEnd::Step() {
  if (--steps_left_ < 0) return GiveUp();
  switch (kind_) {
    case Kind::kOgg:
      return StepOgg();
    case Kind::kMov:
      return StepMov();
    case Kind::kAvi:
      return StepAvi();
    case Kind::kMatroska:
      return StepMatroska();
    case Kind::kNone:
      return;
  }
}

void FileEnd::Pass(uint64_t bytes) {
  const uint64_t left = source_.size() - next_;
  is_cut_ = bytes > left;
  next_ += std::min(bytes, left);
}

void FileEnd::EndAt(uint64_t offset) {
  end_ = offset;
  GiveUp();
}

// Parts of wrong sizes also lead to bytes that are no part, so this need not be the end.
void FileEnd::EndOrGiveUp() {
  if (IsFileHere()) return EndAt(next_);
  if (has_data_) rest_ = next_;
  GiveUp();
}

// Whether another file begins here, instead of a part of this container.
bool FileEnd::IsFileHere() {
  if (next_ == begin_ || --looks_left_ < 0) return false;
  TailSource rest(source_, next_);
  return SniffContainer(rest).container != nullptr;
}

// Each search reads much of the end. A tag that begins in front of an intact page has a wrong size.
bool FileEnd::AreLastTagsHere() {
  const bool is_wanted = !last_tags_ || *last_tags_ < next_;
  if (is_wanted && --tag_searches_left_ >= 0) last_tags_ = BeginOfLastTags(source_, next_, 0);
  return *last_tags_ == next_;
}

// RFC 3533, section 6. A new link begins with the first page of a stream after others have had data.
void FileEnd::StepOgg() {
  constexpr size_t kHeaderBytes = 27;
  constexpr size_t kMostSegments = 255;
  constexpr uint8_t kFirstPage = 2, kLastPage = 4;
  const auto page = Bytes(kHeaderBytes + kMostSegments);
  const bool is_page = HasAt(page, 0, std::string_view("OggS\0", 5));
  if (page.size() < kHeaderBytes) {
    is_cut_ = is_page;
    return GiveUp();
  }
  if (!is_page) {
    if (AreLastTagsHere()) return EndAt(next_);
    return has_data_ && IsFileHere() ? EndAt(next_) : FindNextPage();
  }
  const uint8_t flags = page[5];
  if ((flags & kFirstPage) == 0) {
    has_data_ = true;
  } else if (has_data_ && LittleEndian32(page, 18) == 0) {  // page number: damage does not end a link
    return EndAt(next_);
  }
  has_last_page_ = has_last_page_ || (flags & kLastPage) != 0;
  size_t bytes = kHeaderBytes + page[26];
  for (size_t i = kHeaderBytes; i < std::min(kHeaderBytes + page[26], page.size()); ++i) bytes += page[i];
  if (bytes <= source_.size() - next_ && !IsIntactPage(Bytes(bytes))) damage_.Note({next_, bytes});
  Pass(bytes);
}

// libavformat drops pages with another checksum, which was computed with zeros in its place.
bool FileEnd::IsIntactPage(std::span<const uint8_t> page) {
  constexpr size_t kChecksumAt = 22, kChecksumBytes = 4;
  constexpr std::array<uint8_t, kChecksumBytes> kZeros{};
  const AVCRC* table = av_crc_get_table(AV_CRC_32_IEEE);
  uint32_t crc = av_crc(table, 0, page.data(), kChecksumAt);
  crc = av_crc(table, crc, kZeros.data(), kZeros.size());
  const auto rest = page.subspan(kChecksumAt + kChecksumBytes);
  crc = av_crc(table, crc, rest.data(), rest.size());
  return crc == BigEndian(page.subspan(kChecksumAt, kChecksumBytes));
}

// Resynchronises behind damage.
void FileEnd::FindNextPage() {
  constexpr size_t kLookBytes = 64 * 1024;
  constexpr std::string_view kPage("OggS\0", 5);
  const auto bytes = Bytes(kLookBytes);
  const auto found = std::search(bytes.begin() + 1, bytes.end(), kPage.begin(), kPage.end(),
                                 [](uint8_t byte, char c) { return byte == static_cast<uint8_t>(c); });
  auto passed = static_cast<uint64_t>(found - bytes.begin());
  const bool is_end = found == bytes.end() && next_ + passed == source_.size();
  if (found == bytes.end() && !is_end) passed -= kPage.size() - 1;
  damage_.Note({next_, passed});
  next_ += passed;
  if (is_end) GiveUp();
}

// ISO/IEC 14496-12, section 4.2. "ftyp" begins a file; QuickTime has some without it.
void FileEnd::StepMov() {
  constexpr size_t kHeaderBytes = 8, kLongHeaderBytes = 16;
  constexpr std::array<std::string_view, 12> kBoxes = {"ftyp", "styp", "moov", "mdat", "wide", "free",
                                                       "skip", "moof", "mfra", "sidx", "uuid", "meta"};
  const auto box = Bytes(kLongHeaderBytes);
  if (box.size() < kHeaderBytes) {
    is_cut_ = !std::ranges::all_of(box, IsMpegPadding);
    return GiveUp();
  }
  uint64_t bytes = BigEndian(box.first(4));
  if (bytes == 1 && box.size() == kLongHeaderBytes) bytes = BigEndian(box.subspan(8, 8));
  const bool has_name =
      std::all_of(box.begin() + 4, box.begin() + 8, [](uint8_t c) { return c >= ' ' && c <= '~'; });
  if (bytes == 0 && has_name) return GiveUp();  // up to the end
  if (bytes < kHeaderBytes || !has_name) return EndOrGiveUp();
  // Letters may also follow the signature of another file.
  const bool is_known = std::find_if(kBoxes.begin(), kBoxes.end(), [&](std::string_view name) {
                          return HasAt(box, 4, name);
                        }) != kBoxes.end();
  if (!is_known && (bytes > source_.size() - next_ || IsFileHere())) return EndOrGiveUp();
  if (HasAt(box, 4, "ftyp") && (index_end_ > 0 || has_data_)) return EndAt(next_);
  if (HasAt(box, 4, "moov")) {
    if (index_end_ > 0) return EndAt(data_was_first_ ? index_end_ : next_);
    data_was_first_ = has_data_;
    index_end_ = next_ + bytes;
  }
  if (HasAt(box, 4, "mdat")) has_data_ = true;
  Pass(bytes);
}

// One RIFF chunk of type "AVI ", and any number of type "AVIX" (OpenDML AVI File Format Extensions). Programs
// that write to a pipe state no sizes, except those of the chunks in the list "movi"; a list of a wrong size
// is stepped through.
void FileEnd::StepAvi() {
  constexpr size_t kHeaderBytes = 8, kListBytes = 12;
  const auto chunk = Bytes(kListBytes);
  if (chunk.size() < kHeaderBytes) {
    is_cut_ = !std::ranges::all_of(chunk, IsMpegPadding);
    return GiveUp();
  }
  const bool is_riff = HasAt(chunk, 0, "RIFF") && HasAt(chunk, 8, next_ == begin_ ? "AVI" : "AVIX");
  const bool is_list = is_riff || HasAt(chunk, 0, "LIST");
  const bool is_other = HasAt(chunk, 0, "JUNK") || HasAt(chunk, 0, "idx1") || HasAt(chunk, 0, "ix");
  const bool is_of_stream = IsStreamChunk(chunk);
  if (!is_list && !is_other && !is_of_stream) return EndOrGiveUp();
  if (is_riff || (is_of_stream && HasAt(chunk, 2, "wb"))) has_data_ = true;
  const uint64_t bytes = kHeaderBytes + uint64_t{LittleEndian32(chunk, 4)};
  const bool is_wrong = bytes < kListBytes || bytes > source_.size() - next_;
  if (is_list && (is_wrong || HasAt(chunk, 8, "movi"))) return Pass(kListBytes);
  Pass(bytes);
  // The last padding may be absent.
  if (!is_cut_) next_ = std::min(next_ + (bytes & 1), source_.size());
}

// Live recordings have a segment and clusters of unknown size, which end at the first element that cannot be
// part of them.
void FileEnd::StepMatroska() {
  const auto bytes = Bytes(MatroskaElement::kMostHeaderBytes);
  if (bytes.empty()) return GiveUp();
  const auto element = MatroskaElement::Read(bytes);
  if (!element || !element->is_known()) return EndOrGiveUp();
  if (element->id == MatroskaElement::kFile && next_ > begin_) return EndAt(next_);
  const bool may_be_unknown =
      element->id == MatroskaElement::kSegment || element->id == MatroskaElement::kCluster;
  if (may_be_unknown) has_data_ = true;
  if (!element->size && !may_be_unknown) return GiveUp();
  Pass(element->header_bytes + element->size.value_or(0));
}

}  // namespace veravox
