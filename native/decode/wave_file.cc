// SPDX-License-Identifier: Apache-2.0
#include "decode/wave_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

#include "decode/file_tags.h"

namespace veravox {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr size_t kChunkHeaderBytes = 8;
constexpr uint32_t kSizeElsewhere = 0xffffffff;  // in RF64, and in streams, whose size is unknown
constexpr uint64_t kSizeUnknown = std::numeric_limits<uint64_t>::max();

template <typename T>
T Field(Bytes bytes, size_t offset, bool big_endian) {
  std::array<uint8_t, sizeof(T)> raw;
  std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(offset), sizeof(T), raw.begin());
  if (big_endian) std::reverse(raw.begin(), raw.end());
  return std::bit_cast<T>(raw);
}

bool IsText(const uint8_t* bytes, std::string_view text) {
  return std::memcmp(bytes, text.data(), text.size()) == 0;
}

// Chunks that may accompany the audio; they are never mistaken for samples.
bool IsKnownChunk(const uint8_t* id) {
  constexpr std::string_view kKnown[] = {
      "data", "fmt ", "LIST", "JUNK", "junk", "PAD ", "FLLR", "fact", "bext", "ds64", "cue ", "plst",
      "smpl", "inst", "acid", "iXML", "axml", "chna", "PEAK", "id3 ", "ID3 ", "levl", "link", "qlty",
      "cart", "umid", "r64m", "_PMX", "aXML", "SNDM", "MD5 ", "strc", "regn", "DISP", "minf", "elm1",
      "ubxt", "dbmd", "afsp", "LGWV", "ovwf", "slnt", "wavl", "RIFF", "RIFX", "RF64", "BW64",
  };
  return std::any_of(std::begin(kKnown), std::end(kKnown),
                     [&](std::string_view known) { return IsText(id, known); });
}

// Sizes that programs write when they do not know the real one: slightly less than 2 or 4 GiB.
bool IsPlaceholder(uint64_t bytes) {
  constexpr uint64_t kMostHeaderBytes = 4096;
  const bool below_2_gib = bytes >= 0x7ffff000 - kMostHeaderBytes && bytes <= 0x80000000;
  const bool below_4_gib = bytes >= 0xfffff000 && bytes <= 0xffffffff;
  return bytes == 0 || below_2_gib || below_4_gib || bytes >= uint64_t{1} << 62;
}

// A container of 3 bytes may hold samples of 20 bits, on the left.
std::optional<WaveCoding> CodingOf(uint16_t tag, int bits, size_t sample_bytes) {
  constexpr uint16_t kPcm = 1, kFloat = 3, kALaw = 6, kMuLaw = 7;
  const int container_bits = static_cast<int>(sample_bytes) * 8;
  if (bits > container_bits || bits <= container_bits - 8) return {};
  if (tag == kPcm && sample_bytes == 1) return WaveCoding::kU8;
  if (tag == kPcm && sample_bytes == 2) return WaveCoding::kS16;
  if (tag == kPcm && sample_bytes == 3) return WaveCoding::kS24;
  if (tag == kPcm && sample_bytes == 4) return WaveCoding::kS32;
  if (tag == kFloat && bits == 32) return WaveCoding::kF32;
  if (tag == kFloat && bits == 64) return WaveCoding::kF64;
  if (tag == kALaw && bits == 8) return WaveCoding::kALaw;
  if (tag == kMuLaw && bits == 8) return WaveCoding::kMuLaw;
  return {};
}

// ADPCM of Microsoft and IMA, and GSM, whose "fmt " states the samples per block; some writers state a wrong
// rate.
bool HasBlocks(uint16_t tag) { return tag == 2 || tag == 0x11 || tag == 0x31; }

// WAVEFORMAT, WAVEFORMATEX or WAVEFORMATEXTENSIBLE
// (https://learn.microsoft.com/windows/win32/api/mmreg/ns-mmreg-waveformatextensible).
std::optional<WaveFormat> ParseFormat(Bytes chunk, bool big_endian) {
  constexpr uint16_t kExtensible = 0xfffe, kPcm = 1;
  constexpr size_t kPlainBytes = 16, kWithSizeBytes = 18, kBlockFieldBytes = 20, kExtensibleBytes = 40;
  constexpr std::string_view kGuidTail("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);
  constexpr std::string_view kBigGuidTail("\x00\x00\x00\x00\x00\x10\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);
  if (chunk.size() < kPlainBytes) return {};
  const auto word = [&](size_t offset) { return Field<uint16_t>(chunk, offset, big_endian); };
  const auto long_word = [&](size_t offset) { return Field<uint32_t>(chunk, offset, big_endian); };

  WaveFormat format;
  format.chunk.assign(chunk.begin(), chunk.end());
  format.big_endian = big_endian;
  format.channels = word(2);
  format.frame_bytes = word(12);
  const uint32_t rate_hz = long_word(4);
  if (format.channels == 0 || rate_hz == 0 || rate_hz > INT_MAX) return format;
  format.sample_rate_hz = static_cast<int>(rate_hz);

  uint16_t tag = word(0);
  const int bits = word(14);
  format.bytes_per_s = long_word(8);
  if (HasBlocks(tag) && chunk.size() >= kBlockFieldBytes && word(18) > 0) {
    format.bytes_per_s = static_cast<double>(format.frame_bytes) * format.sample_rate_hz / word(18);
  }
  // In PCM, extra data may change the meaning of the samples.
  bool has_meaning = tag != kPcm || chunk.size() <= kWithSizeBytes;
  if (tag == kExtensible) {
    has_meaning = chunk.size() >= kExtensibleBytes &&
                  (IsText(chunk.data() + 26, kGuidTail) || IsText(chunk.data() + 26, kBigGuidTail));
    if (has_meaning) {
      tag = word(24);
      format.channel_mask = long_word(20);
    }
  }
  const auto channels = static_cast<size_t>(format.channels);
  if (!has_meaning || format.frame_bytes == 0 || format.frame_bytes % channels != 0) return format;
  format.coding = CodingOf(tag, bits, format.frame_bytes / channels);
  if (format.coding) format.bytes_per_s = static_cast<double>(format.frame_bytes) * format.sample_rate_hz;
  return format;
}

// Sizes of 64 bits (EBU Tech 3306, ITU-R BS.2088).
struct Sizes64 {
  uint64_t data = kSizeUnknown;
  struct Other {
    std::array<uint8_t, 4> id;
    uint64_t bytes = 0;
  };
  std::vector<Other> others;

  uint64_t Of(const std::array<uint8_t, 4>& id) const {
    const auto found =
        std::find_if(others.begin(), others.end(), [&](const Other& other) { return other.id == id; });
    return found == others.end() ? kSizeUnknown : found->bytes;
  }
};

class Reader {
 public:
  explicit Reader(ByteSource& source) : source_(source) {}

  WaveFile Read(uint64_t begin) {
    uint64_t offset = begin;
    while (IsHeaderAt(offset) && ++chunks_ <= kMaxChunks)
      offset = EndOfTagsAndZeros(source_, ReadRiff(offset));
    NoteRest(offset);
    return std::move(file_);
  }

 private:
  static constexpr int kMaxChunks = 10'000;
  static constexpr size_t kToldChunks = 8;

  uint64_t LeftAt(uint64_t offset) const { return source_.size() - std::min(offset, source_.size()); }

  bool IsHeaderAt(uint64_t offset) {
    const Bytes bytes = ReadInARow(source_, offset, kRiffHeaderBytes, pieces_);
    return bytes.size() == kRiffHeaderBytes && IsWaveHeader(bytes.data());
  }

  // Such as an AVI file, and not a chunk.
  bool IsOtherRiffAt(uint64_t offset) {
    const Bytes bytes = ReadInARow(source_, offset, kChunkHeaderBytes, pieces_);
    return bytes.size() == kChunkHeaderBytes && IsText(bytes.data(), "RIFF") && !IsHeaderAt(offset);
  }

  bool IsKnownAt(uint64_t offset) {
    const Bytes bytes = ReadInARow(source_, offset, kChunkHeaderBytes, pieces_);
    return bytes.size() == kChunkHeaderBytes && IsKnownChunk(bytes.data());
  }

  // Padding after a body of an odd number of bytes, which some writers omit.
  uint64_t EndOfChunk(uint64_t end, uint64_t bytes) {
    const bool is_padded = (bytes & 1) != 0 && (!IsKnownAt(end) || IsKnownAt(end + 1));
    return std::min(end + (is_padded ? 1 : 0), source_.size());
  }

  // Returns the end of the file's own bytes from `offset` on.
  uint64_t ReadRiff(uint64_t offset) {
    const Bytes header = ReadInARow(source_, offset, kRiffHeaderBytes, pieces_);
    big_endian_ = IsText(header.data(), "RIFX");
    sizes_ = {};
    format_.reset();
    sample_count_ = 0;
    // Samples behind the end of a data chunk may look like chunks of no known kind.
    std::optional<uint64_t> doubtful;
    bool has_data = false;
    offset += kRiffHeaderBytes;
    while (LeftAt(offset) >= kChunkHeaderBytes && !IsHeaderAt(offset) && !IsOtherRiffAt(offset)) {
      if (++chunks_ > kMaxChunks) return doubtful.value_or(offset);
      const Bytes chunk = ReadInARow(source_, offset, kChunkHeaderBytes, pieces_);
      std::array<uint8_t, 4> id;
      std::copy_n(chunk.begin(), id.size(), id.begin());
      const uint64_t stated = Field<uint32_t>(chunk, 4, big_endian_);
      const uint64_t body = offset + kChunkHeaderBytes;
      if (file_.chunk_ids.size() < kToldChunks) file_.chunk_ids.emplace_back(id.begin(), id.end());

      if (IsText(id.data(), "data")) {
        offset = ReadData(body, stated, has_data);
        has_data = true;
        doubtful.reset();
        continue;
      }
      const bool is_known = IsKnownChunk(id.data());
      if (is_known) doubtful.reset();
      if (has_data && !is_known && !doubtful) doubtful = offset;
      const uint64_t bytes = stated == kSizeElsewhere ? std::min(sizes_.Of(id), LeftAt(body)) : stated;
      if (bytes > LeftAt(body)) return doubtful.value_or(source_.size());
      if (IsText(id.data(), "fmt ")) ReadFormat(body, bytes);
      if (IsText(id.data(), "ds64")) ReadSizes(body, bytes);
      if (IsText(id.data(), "fact")) ReadSampleCount(body, bytes);
      offset = EndOfChunk(body + bytes, bytes);
    }
    const bool ends_well = LeftAt(offset) == 0 || IsHeaderAt(offset) || IsOtherRiffAt(offset);
    return ends_well ? offset : doubtful.value_or(offset);
  }

  void ReadFormat(uint64_t body, uint64_t bytes) {
    constexpr uint64_t kMostBytes = 4096;
    if (bytes > kMostBytes) return;
    auto format = ParseFormat(ReadInARow(source_, body, static_cast<size_t>(bytes), pieces_), big_endian_);
    if (!format) return;
    auto& formats = file_.formats;
    const auto same = std::find(formats.begin(), formats.end(), *format);
    format_ = static_cast<size_t>(same - formats.begin());
    if (same == formats.end()) formats.push_back(*std::move(format));
  }

  void ReadSampleCount(uint64_t body, uint64_t bytes) {
    const Bytes chunk = ReadInARow(source_, body, sizeof(uint32_t), pieces_);
    if (bytes >= sizeof(uint32_t) && chunk.size() == sizeof(uint32_t)) {
      sample_count_ = Field<uint32_t>(chunk, 0, big_endian_);
    }
  }

  void ReadSizes(uint64_t body, uint64_t bytes) {
    constexpr size_t kFixedBytes = 28, kOtherBytes = 12, kMostOthers = 100;
    const auto wanted =
        static_cast<size_t>(std::min<uint64_t>(bytes, kFixedBytes + kMostOthers * kOtherBytes));
    const Bytes chunk = ReadInARow(source_, body, wanted, pieces_);
    if (chunk.size() < 16) return;
    sizes_.data = Field<uint64_t>(chunk, 8, big_endian_);
    for (size_t at = kFixedBytes; at + kOtherBytes <= chunk.size(); at += kOtherBytes) {
      Sizes64::Other other;
      std::copy_n(chunk.begin() + static_cast<ptrdiff_t>(at), other.id.size(), other.id.begin());
      other.bytes = Field<uint64_t>(chunk, at + 4, big_endian_);
      sizes_.others.push_back(other);
    }
  }

  uint64_t DataSize(uint64_t body, uint64_t stated, bool is_further) {
    constexpr std::array<uint8_t, 4> kData = {'d', 'a', 't', 'a'};
    const uint64_t size_64 = is_further ? sizes_.Of(kData) : sizes_.data;
    if (stated == kSizeElsewhere || (stated == 0 && size_64 != kSizeUnknown)) stated = size_64;
    if (!IsPlaceholder(stated)) return stated;
    // It may be the real size by chance.
    if (stated > LeftAt(body)) return kSizeUnknown;
    const uint64_t end = EndOfChunk(body + stated, stated);
    return LeftAt(end) == 0 || IsKnownAt(end) ? stated : kSizeUnknown;
  }

  // Returns the end of the data chunk with this body.
  uint64_t ReadData(uint64_t body, uint64_t stated, bool is_further) {
    const uint64_t bytes = DataSize(body, stated, is_further);
    const uint64_t found = std::min(bytes, LeftAt(body));
    if (!format_) {
      file_.gaps.push_back(
          {file_.parts.size(), found, "samples whose format is not stated in front of them"});
      return EndOfChunk(body + found, found);
    }
    WaveFormat& format = file_.formats[*format_];
    // At a variable rate, perhaps only the number of samples is stated.
    if (format.bytes_per_s == 0.0 && sample_count_ > 0 && bytes != kSizeUnknown) {
      format.bytes_per_s = static_cast<double>(bytes) * format.sample_rate_hz / sample_count_;
    }
    WavePart part{.format = *format_, .begin = body, .bytes = found};
    if (format.coding) part.bytes -= found % format.frame_bytes;
    part.open_ended = bytes > found;
    if (part.open_ended && bytes != kSizeUnknown) part.missing_bytes = bytes - found;
    if (part.bytes > 0) file_.parts.push_back(part);
    return EndOfChunk(body + found, found);
  }

  void NoteRest(uint64_t offset) {
    // A search for nothing: without parts, the caller drops all gaps.
    if (file_.parts.empty() || !HoldsMoreThanTags(source_, offset)) return;
    file_.gaps.push_back({file_.parts.size(), LeftAt(offset), "behind the end that the WAV header states"});
  }

  ByteSource& source_;
  WaveFile file_;
  std::vector<uint8_t> pieces_;
  int chunks_ = 0;

  // State of the RIFF being read.
  bool big_endian_ = false;
  Sizes64 sizes_;
  std::optional<size_t> format_;
  uint32_t sample_count_ = 0;
};

}  // namespace

size_t SampleBytes(WaveCoding coding) {
  switch (coding) {
    case WaveCoding::kU8:
    case WaveCoding::kALaw:
    case WaveCoding::kMuLaw:
      return 1;
    case WaveCoding::kS16:
      return 2;
    case WaveCoding::kS24:
      return 3;
    case WaveCoding::kS32:
    case WaveCoding::kF32:
      return 4;
    case WaveCoding::kF64:
      return 8;
  }
  return 0;
}

bool IsWaveHeader(const uint8_t* bytes) {
  constexpr std::string_view kIds[] = {"RIFF", "RIFX", "RF64", "BW64"};
  return IsText(bytes + 8, "WAVE") && std::any_of(std::begin(kIds), std::end(kIds),
                                                  [&](std::string_view id) { return IsText(bytes, id); });
}

WaveFile ReadWaveFile(ByteSource& source, uint64_t begin) { return Reader(source).Read(begin); }

WaveFile OnlyHeard(const WaveFile& file, const std::function<bool(const WavePart&)>& is_heard) {
  WaveFile heard{.formats = file.formats, .parts = {}, .gaps = {}, .chunk_ids = file.chunk_ids};
  auto gap = file.gaps.begin();
  for (size_t i = 0; i <= file.parts.size(); ++i) {
    for (; gap != file.gaps.end() && gap->parts_before == i; ++gap) {
      heard.gaps.push_back({heard.parts.size(), gap->bytes, gap->what});
    }
    if (i == file.parts.size()) break;
    const WavePart& part = file.parts[i];
    if (is_heard(part)) {
      heard.parts.push_back(part);
    } else {
      heard.gaps.push_back({heard.parts.size(), part.bytes, "samples of another WAV format"});
    }
  }
  return heard;
}

WaveFile OnlyOwnCodings(const WaveFile& file) {
  return OnlyHeard(file, [&](const WavePart& part) { return file.formats[part.format].coding.has_value(); });
}

double WaveFile::SecondsBefore(size_t part) const {
  double seconds = 0.0;
  for (size_t i = 0; i < part; ++i) {
    const double bytes_per_s = formats[parts[i].format].bytes_per_s;
    if (bytes_per_s > 0.0) seconds += static_cast<double>(parts[i].bytes) / bytes_per_s;
  }
  return seconds;
}

std::vector<Unheard> WaveFile::unheard() const {
  // Gaps beyond the limit are added to the last one listed.
  constexpr size_t kMost = 20;
  std::vector<Unheard> all;
  for (const auto& [parts_before, bytes, what] : gaps) {
    if (all.size() == kMost) {
      all.back().bytes += static_cast<int64_t>(bytes);
    } else {
      all.push_back({static_cast<int64_t>(bytes), SecondsBefore(parts_before), what});
    }
  }
  return all;
}

std::optional<StatedLength> WaveFile::stated_length() const {
  // Less than this is rounding.
  constexpr double kLeastS = 0.01;
  double missing_s = 0.0;
  for (const WavePart& part : parts) {
    const double bytes_per_s = formats[part.format].bytes_per_s;
    if (bytes_per_s > 0.0) missing_s += static_cast<double>(part.missing_bytes) / bytes_per_s;
  }
  if (missing_s < kLeastS) return {};
  const double found_s = SecondsBefore(parts.size());
  return StatedLength{found_s + missing_s, found_s};
}

}  // namespace veravox
