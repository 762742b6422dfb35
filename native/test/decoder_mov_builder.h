// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace veravox::test {

// The smallest QuickTime file with one audio track of 16-bit PCM, with everything that an attacker may write
// into one (ISO/IEC 14496-12; QuickTime File Format for "alis").
struct MovBuilder {
  uint32_t sample_rate_hz = 8000;
  std::vector<int16_t> samples;
  uint32_t sample_ticks = 1;            // other than 1 gives each sample an index entry in libavformat
  uint32_t stated_samples = 0;          // in "stsz", "stts" and "stsc"
  std::vector<uint8_t> data_reference;  // empty: the samples are in this file
  std::vector<uint8_t> edit_list;       // the body of "elst"
  std::vector<uint32_t> chunk_offsets;  // of chunks with one sample each; empty: a single chunk
  uint32_t sample_bytes = 2;            // as stated
  std::vector<uint32_t> other_offsets;  // the same of a second audio track; empty: there is none

  using Bytes = std::vector<uint8_t>;

  static void Put(Bytes& bytes, uint64_t value, int width) {
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8)
      bytes.push_back(static_cast<uint8_t>(value >> shift));
  }

  static Bytes Words(std::initializer_list<uint32_t> words) {
    Bytes bytes;
    for (const uint32_t word : words) Put(bytes, word, 4);
    return bytes;
  }

  static Bytes Box(std::string_view type, std::initializer_list<Bytes> parts) {
    Bytes body;
    for (const Bytes& part : parts) body.insert(body.end(), part.begin(), part.end());
    Bytes box;
    Put(box, body.size() + 8, 4);
    for (const char letter : type) box.push_back(static_cast<uint8_t>(letter));
    box.insert(box.end(), body.begin(), body.end());
    return box;
  }

  // A Macintosh alias record that names another file by its absolute path.
  static Bytes AliasTo(const std::string& path) {
    constexpr int kAbsolutePath = 2, kEnd = 0xffff;
    Bytes record(150, 0);
    Put(record, kAbsolutePath, 2);
    Put(record, path.size(), 2);
    record.insert(record.end(), path.begin(), path.end());
    if (path.size() % 2 != 0) record.push_back(0);
    Put(record, kEnd, 2);
    Put(record, 0, 2);
    return Box("alis", {Words({0}), record});
  }

  // A file that states `count` samples, alternately at its start and its end.
  static Bytes JumpingAbout(uint32_t count, size_t samples_between) {
    MovBuilder mov{.samples = std::vector<int16_t>(samples_between, 1), .stated_samples = count};
    const auto end = static_cast<uint32_t>(2 * samples_between);
    for (uint32_t i = 0; i < count; ++i) mov.chunk_offsets.push_back(100 + (i % 2 == 0 ? i : end - 200 - i));
    return mov.Build();
  }

  Bytes Build() const {
    Bytes sound;
    for (const int16_t sample : samples) Put(sound, static_cast<uint16_t>(sample), 2);
    const Bytes file_type = Box("ftyp", {Words({0x71742020, 0, 0x71742020})});
    const Bytes data = Box("mdat", {sound});
    const auto offset = static_cast<uint32_t>(file_type.size() + 8);
    const auto count = stated_samples != 0 ? stated_samples : static_cast<uint32_t>(samples.size());

    const Bytes first = Track(chunk_offsets.empty() ? Bytes(Words({0, 1, offset})) : Offsets(chunk_offsets),
                              count, chunk_offsets.empty() ? count : 1);
    const Bytes other = other_offsets.empty()
                            ? Bytes{}
                            : Track(Offsets(other_offsets), static_cast<uint32_t>(other_offsets.size()), 1);
    const Bytes movie =
        Box("moov", {Box("mvhd", {Words({0, 0, 0, sample_rate_hz, count}), Bytes(80)}), first, other});
    Bytes file = file_type;
    file.insert(file.end(), data.begin(), data.end());
    file.insert(file.end(), movie.begin(), movie.end());
    return file;
  }

 private:
  static Bytes Offsets(const std::vector<uint32_t>& offsets) {
    Bytes chunks = Words({0, static_cast<uint32_t>(offsets.size())});
    for (const uint32_t offset : offsets) Put(chunks, offset, 4);
    return chunks;
  }

  Bytes Track(const Bytes& chunks, uint32_t count, uint32_t samples_per_chunk) const {
    const Bytes reference = data_reference.empty() ? Box("url ", {Words({1})}) : data_reference;
    Bytes description = Words({0, 1, 0, 0, 1 << 16 | 16, 0, sample_rate_hz << 16});
    const Bytes table = Box("stbl", {
                                        Box("stsd", {Words({0, 1}), Box("twos", {description})}),
                                        Box("stts", {Words({0, 1, count, sample_ticks})}),
                                        Box("stsc", {Words({0, 1, 1, samples_per_chunk, 1})}),
                                        Box("stsz", {Words({0, sample_bytes, count})}),
                                        Box("stco", {chunks}),
                                    });
    const Bytes media =
        Box("mdia", {
                        Box("mdhd", {Words({0, 0, 0, sample_rate_hz, count, 0})}),
                        Box("hdlr", {Words({0, 0x6d686c72, 0x736f756e, 0, 0, 0, 0})}),
                        Box("minf", {Box("smhd", {Words({0, 0})}),
                                     Box("dinf", {Box("dref", {Words({0, 1}), reference})}), table}),
                    });
    const Bytes edits = edit_list.empty() ? Bytes{} : Box("edts", {Box("elst", {edit_list})});
    return Box("trak", {Box("tkhd", {Words({1, 0, 0, 1, 0, count}), Bytes(60)}), edits, media});
  }
};

}  // namespace veravox::test
