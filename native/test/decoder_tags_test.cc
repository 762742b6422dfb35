// SPDX-License-Identifier: Apache-2.0
// Tags and padding around the audio of any container, which are neither audio nor damage.
#include <gtest/gtest.h>

#include <string_view>

#include "counting_source.h"
#include "decode/file_end.h"
#include "decode/file_tags.h"
#include "decoder_media.h"
#include "range_readers.h"

namespace veravox::test {
namespace {

constexpr const char* kFiles[] = {
    "mp3-stereo-44100.mp3", "aac-stereo-44100.aac", "flac-stereo-44100.flac", "wav-stereo-44100.wav",
    "m4a-stereo-44100.m4a", "mkv-stereo-44100.mkv", "avi-stereo-44100.avi",   "ogg-vorbis-stereo-44100.ogg",
};

ByteVector Text(std::string_view text) { return {text.begin(), text.end()}; }

ByteVector Size(size_t size, int bits_per_byte) {
  ByteVector bytes;
  for (int i = 3; i >= 0; --i) {
    bytes.push_back(static_cast<uint8_t>(size >> (i * bits_per_byte) & ((1 << bits_per_byte) - 1)));
  }
  return bytes;
}

// ID3v2.3 with a picture.
ByteVector Id3(size_t cover_bytes, int size_bits = 7, size_t padding = 0) {
  const ByteVector frame =
      Joined({Text("APIC"), Size(cover_bytes, 8), {0, 0}, Noise(cover_bytes, 1), ByteVector(padding, 0)});
  return Joined({Text("ID3"), {3, 0, 0}, Size(frame.size(), size_bits), frame});
}

ByteVector Id3v1() {
  ByteVector tag = Text("TAGTitle");
  tag.resize(128);
  return tag;
}

ByteVector Ape() {
  const ByteVector item = Joined({{5, 0, 0, 0, 0, 0, 0, 0}, Text("Title"), {0}, Text("hello")});
  const auto header = [&](uint8_t flags) {
    return Joined({Text("APETAGEX"),
                   {0xd0, 7, 0, 0},
                   {static_cast<uint8_t>(item.size() + 32), 0, 0, 0},
                   {1, 0, 0, 0},
                   {0, 0, 0, flags},
                   ByteVector(8, 0)});
  };
  return Joined({header(0xa0), item, header(0x80)});
}

ByteVector Lyrics3() { return Text("LYRICSBEGININD0000200LYR00005hello000033LYRICS200"); }

TEST(DecoderTagsTest, BehindTheAudio) {
  const std::pair<const char*, ByteVector> tails[] = {
      {"ID3v1", Id3v1()},
      {"ID3v2", Id3(30'000)},
      {"ID3v2 and ID3v1", Joined({Id3(30'000), Id3v1()})},
      {"APE", Ape()},
      {"APE and ID3v1", Joined({Ape(), Id3v1()})},
      {"Lyrics3 and ID3v1", Joined({Lyrics3(), Id3v1()})},
      {"zeros", ByteVector(20'000, 0)},
      {"the end of a line", Text("\r\n")},
      {"ID3v1 between zeros", Joined({ByteVector(20'000, 0), Id3v1(), ByteVector(300, 0)})},
  };
  for (const char* name : kFiles) {
    const ByteVector plain = MediaNamed("matrix", name).bytes();
    const std::vector<float> expected = Decode(plain).samples;
    for (const auto& [what, tail] : tails) {
      const Decoded decoded = Decode(Joined({plain, tail}));
      EXPECT_EQ(decoded.samples, expected) << what << " behind " << name;
      EXPECT_EQ(decoded.damaged_packets, 0) << what << " behind " << name;
      EXPECT_TRUE(decoded.unheard.empty()) << what << " behind " << name;
      EXPECT_FALSE(decoded.stated_length.has_value()) << what << " behind " << name;
    }
  }
}

TEST(DecoderTagsTest, InFrontOfTheAudio) {
  const std::pair<const char*, ByteVector> heads[] = {
      {"a size of 28 bits", Id3(150'000)},
      {"a plain size", Id3(150'000, 8)},
      // One byte is 0x80.
      {"a plain size with a high bit", Id3(0x8080, 8)},
      {"padding in the tag", Id3(1'000, 7, 100'000)},
      {"padding behind the tag", Joined({Id3(1'000), ByteVector(100'001, 0)})},
      {"two tags", Joined({Id3(150'000), Id3(70'000, 8)})},
      {"an APE tag", Ape()},
      {"zeros", ByteVector(100'003, 0)},
  };
  for (const char* name : kFiles) {
    const ByteVector plain = MediaNamed("matrix", name).bytes();
    const std::vector<float> expected = Decode(plain).samples;
    for (const auto& [what, head] : heads) {
      const ByteVector file = Joined({head, plain});
      EXPECT_FALSE(DecodeError(file).has_value()) << what << " in front of " << name;
      if (DecodeError(file)) continue;
      const Decoded decoded = Decode(file);
      EXPECT_EQ(decoded.samples, expected) << what << " in front of " << name;
      EXPECT_EQ(decoded.damaged_packets, 0) << what << " in front of " << name;
    }
  }
}

TEST(DecoderTagsTest, BetweenJoinedFiles) {
  for (const char* name : {"mp3-stereo-44100.mp3", "aac-stereo-44100.aac", "wav-stereo-44100.wav"}) {
    const ByteVector plain = MediaNamed("matrix", name).bytes();
    const size_t expected = Decode(Joined({plain, plain})).samples.size();
    const ByteVector tagged = Joined({plain, Id3v1(), Id3(150'000), plain});
    for (const bool in_ranges : {false, true}) {
      const StopSignal never;
      SpanReader reader(tagged);
      RangedSource ranges(reader, tagged.size(), never);
      MemorySource memory(tagged);
      Decoder decoder(in_ranges ? static_cast<ByteSource&>(ranges) : memory, {}, never);
      const Decoded decoded = DrainSource(decoder);
      EXPECT_EQ(decoded.samples.size(), expected) << name;
      EXPECT_EQ(decoded.damaged_packets, 0) << name;
    }
  }
}

// Otherwise audio could hide where players find it.
TEST(DecoderTagsTest, WhatHoldsFramesIsNoTag) {
  for (const char* name : {"mp3-stereo-44100.mp3", "flac-stereo-44100.flac"}) {
    const ByteVector plain = MediaNamed("matrix", name).bytes();
    const size_t once = Decode(plain).samples.size();
    const ByteVector hidden = Joined({Text("ID3"), {3, 0, 0}, Size(plain.size(), 7), plain});
    EXPECT_GT(Decode(Joined({plain, hidden})).samples.size(), once * 19 / 10) << name;
  }
}

// Tags at the end are searched for once, however many places of an Ogg stream are damaged.
TEST(DecoderTagsTest, DamagedPlacesDoNotMultiplyTheSearch) {
  constexpr size_t kTags = 200;
  const ByteVector frame = Joined({Text("AAAA"), ByteVector(6, 0)});
  ByteVector tail;
  // Each begins with a frame that ends where many others begin.
  for (size_t left = kTags; left > 0; --left) {
    tail = Joined({tail, Text("ID3"), {3, 0, 0}, Size(0, 7), Text("AAAA"), Size((left - 1) * 20, 8), {0, 0}});
  }
  for (size_t i = 0; i < kTags; ++i) tail = Joined({tail, frame});
  tail = Joined({tail, ByteVector(100, 1)});
  const ByteVector page = Joined({Text("OggS"), ByteVector(23, 0)});
  const Container ogg{.name = "ogg", .demuxer = "ogg", .parameters_in_frames = false};
  const auto reads_with = [&](int places) {
    ByteVector file = page;
    for (int i = 0; i < places; ++i) file = Joined({file, Text("x"), page});
    file = Joined({file, tail});
    CountingSource source(file);
    FileEnd(source, 0, ogg).Find();
    return source.reads;
  };
  EXPECT_GT(reads_with(1), static_cast<int>(kTags * kTags));
  EXPECT_LT(reads_with(20), reads_with(1) * 11 / 10);
}

// From each beginning to the only end, a million bytes further on.
TEST(DecoderTagsTest, BeginningsOfLyricsDoNotMultiplyTheSearch) {
  constexpr int kBeginnings = 100;
  ByteVector beginnings, tags;
  for (int i = 0; i < kBeginnings; ++i) {
    beginnings = Joined({beginnings, Text("LYRICSBEGIN")});
    tags = Joined({tags, Text("LYRICSBEGINLYRICSEND")});
  }
  const ByteVector far = Joined({beginnings, ByteVector(1'000'000, 1), Text("LYRICS200")});
  CountingSource last(far);
  EXPECT_EQ(BeginOfLastTags(last, 0, 0), far.size());
  EXPECT_LT(last.reads, kBeginnings);
  const ByteVector many = Joined({tags, ByteVector(1'000'000, 1)});
  CountingSource first(many);
  EXPECT_EQ(EndOfTags(first, 0), tags.size());
  EXPECT_LT(first.bytes, many.size());
}

// Each of joined files looks for the tags at the end.
TEST(DecoderTagsTest, JoinedFilesShareTheSearch) {
  constexpr size_t kFiles = 1'000;
  for (const ByteVector& tags : {ByteVector(), Id3(1'000), Lyrics3(), Joined({Ape(), Id3v1()})}) {
    const ByteVector all = Joined({Noise(1'000'000, 1), tags});
    CountingSource source(all);
    for (size_t i = 0; i < kFiles; ++i) {
      TailSource file(source, i * 100);
      EXPECT_EQ(BeginOfLastTags(file, 0, 0), all.size() - tags.size() - i * 100);
    }
    EXPECT_LT(source.bytes, 5 * all.size());
  }
}

TEST(DecoderTagsTest, LyricsBeginBehindTheTagBefore) {
  const ByteVector audio(5'000, 1);
  const ByteVector first = Joined({audio, Lyrics3()});
  for (const ByteVector& lyrics : {Lyrics3(), Text("LYRICSBEGINhello LYRICSBEGIN helloLYRICSEND")}) {
    const ByteVector both = Joined({first, audio, lyrics});
    MemorySource source(both);
    EXPECT_EQ(BeginOfLastTags(source, 0, 0), both.size() - lyrics.size());
  }
}

// The size of the last tag reaches back to between two damaged places.
TEST(DecoderTagsTest, ATagThatIsTooLongDoesNotEndAnOggStream) {
  const ByteVector page = Joined({Text("OggS"), ByteVector(23, 0)});
  const ByteVector footer = Joined({Text("APETAGEX"), {0xd0, 7, 0, 0, 100, 0, 0, 0}, ByteVector(16, 0)});
  const ByteVector file = Joined({page, Text("x"), page, page, page, Text("x"), page, footer});
  const Container ogg{.name = "ogg", .demuxer = "ogg", .parameters_in_frames = false};
  MemorySource source(file);
  EXPECT_GE(FileEnd(source, 0, ogg).Find(), file.size() - footer.size());
}

TEST(DecoderTagsTest, SizesThatLieAreBorne) {
  const ByteVector plain = MediaNamed("matrix", "mp3-stereo-44100.mp3").bytes();
  for (size_t stated : {size_t{0}, size_t{100}, size_t{149'000}, size_t{200'000'000}}) {
    ByteVector tag = Id3(150'000);
    const ByteVector size = Size(stated, 7);
    std::copy(size.begin(), size.end(), tag.begin() + 6);
    EXPECT_EQ(Decode(Joined({tag, plain})).samples, Decode(plain).samples) << stated;
  }
  // Sizes that include the header, or omit a footer.
  for (const int miscount : {-10, -2, 2, 10}) {
    const ByteVector tag = Id3(3'000);
    ByteVector wrong = tag;
    const ByteVector size = Size(tag.size() - 10 + static_cast<size_t>(miscount), 7);
    std::copy(size.begin(), size.end(), wrong.begin() + 6);
    EXPECT_EQ(Decode(Joined({plain, wrong, Id3v1()})).damaged_packets, 0) << miscount;
  }
}

}  // namespace
}  // namespace veravox::test
