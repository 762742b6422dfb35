// SPDX-License-Identifier: Apache-2.0
// WAV files with samples in several places, and bytes that are not samples: no omission is silent.
#include <gtest/gtest.h>

#include <ctime>
#include <initializer_list>

#include "counting_source.h"
#include "decode/region_source.h"
#include "decoder_media.h"
#include "decoder_wave_builder.h"
#include "range_readers.h"

namespace veravox::test {
namespace {

std::vector<int16_t> Constant(size_t count, int16_t value) { return std::vector<int16_t>(count, value); }

std::vector<float> Floats(std::initializer_list<std::pair<size_t, int16_t>> runs) {
  std::vector<float> samples;
  for (const auto& [count, value] : runs)
    samples.insert(samples.end(), count, static_cast<float>(value) / 32768.0f);
  return samples;
}

ByteVector DataChunk(const std::vector<int16_t>& samples) {
  const ByteVector file = WaveBuilder{}.Build(samples);
  return {file.begin() + 36, file.end()};
}

const std::vector<float> kBoth = Floats({{16'000, 100}, {8'000, -200}});

TEST(DecoderWavePartsTest, EachDataChunkIsHeard) {
  WaveBuilder wave;
  wave.after_data = Joined(
      {WaveBuilder::Chunk("LIST", 26), DataChunk(Constant(8'000, -200)), WaveBuilder::Chunk("bext", 602)});
  const Decoded decoded = Decode(wave.Build(Constant(16'000, 100)));
  EXPECT_EQ(decoded.samples, kBoth);
  EXPECT_TRUE(decoded.unheard.empty());
}

TEST(DecoderWavePartsTest, EachOfJoinedFilesIsHeard) {
  // Stated sizes of any kind: the real size, those of streams, too large ones, or tags in between.
  const ByteVector second = WaveBuilder{}.Build(Constant(8'000, -200));
  for (const int64_t stated : {-1, 0, 0x7ffff000}) {
    const ByteVector first = WaveBuilder{.stated_data_bytes = stated}.Build(Constant(16'000, 100));
    const ByteVector joined = Joined({first, second});
    EXPECT_EQ(Decode(joined).samples, kBoth) << stated;
    EXPECT_TRUE(Decode(joined).unheard.empty());
    EXPECT_FALSE(Decode(joined).stated_length.has_value());
  }
  const ByteVector first = WaveBuilder{}.Build(Constant(16'000, 100));
  ByteVector tag(128, 0);
  tag[0] = 'T', tag[1] = 'A', tag[2] = 'G';
  EXPECT_EQ(Decode(Joined({first, tag, ByteVector(1000, 0), second})).samples, kBoth);
  const ByteVector cut = WaveBuilder{.stated_data_bytes = 64'000}.Build(Constant(16'000, 100));
  const Decoded decoded = Decode(Joined({cut, second}));
  EXPECT_EQ(decoded.samples, kBoth);
  ASSERT_TRUE(decoded.stated_length.has_value());
  EXPECT_DOUBLE_EQ(decoded.stated_length->stated_s.value_or(0.0), 2.5);
  EXPECT_DOUBLE_EQ(decoded.stated_length->found_s, 1.5);
}

TEST(DecoderWavePartsTest, JoinedFilesMayDiffer) {
  const ByteVector first = WaveBuilder{.stated_data_bytes = 0xffffffff}.Build(Constant(16'000, 100));
  const ByteVector second =
      WaveBuilder{.channels = 2, .sample_rate_hz = 8000, .riff = "RIFX"}.Build(Constant(8'000, -200));
  const ByteVector third = WaveBuilder{.tag = 7, .bits = 8}.Build(ByteVector(1'000, 0xff));
  const Decoded decoded = Decode(Joined({first, second, third}));
  EXPECT_EQ(decoded.samples, Floats({{16'000, 100}, {4'000, -200}, {1'000, 0}}));
  EXPECT_EQ(decoded.rates_hz, (std::vector<int>{16'000, 8'000, 16'000}));
  EXPECT_TRUE(decoded.unheard.empty());
}

TEST(DecoderWavePartsTest, AnotherCodecIsNamed) {
  const ByteVector pcm = WaveBuilder{}.Build(Constant(16'000, 100));
  const ByteVector adpcm = MediaNamed("special", "adpcm-ms.wav").bytes();
  const Decoded decoded = Decode(Joined({pcm, adpcm}));
  EXPECT_EQ(decoded.samples.size(), 16'000u);
  ASSERT_EQ(decoded.unheard.size(), 1u);
  EXPECT_GT(decoded.unheard[0].bytes, static_cast<int64_t>(adpcm.size() - 200));
  EXPECT_DOUBLE_EQ(decoded.unheard[0].at_s, 1.0);

  const Decoded reversed = Decode(Joined({adpcm, pcm}));
  EXPECT_EQ(reversed.codec, "adpcm_ms");
  ASSERT_EQ(reversed.unheard.size(), 1u);
  EXPECT_EQ(reversed.unheard[0].bytes, 32'000);
  EXPECT_NEAR(reversed.unheard[0].at_s, 2.0, 0.1);
}

TEST(DecoderWavePartsTest, CodedFilesAreHeardTwiceIfTheyAreThereTwice) {
  for (const char* name : {"adpcm-ms.wav", "adpcm-ima.wav", "gsm.wav"}) {
    const ByteVector once = MediaNamed("special", name).bytes();
    const Decoded decoded = Decode(Joined({once, once}));
    EXPECT_EQ(decoded.samples.size(), 2 * Decode(once).samples.size()) << name;
    EXPECT_TRUE(decoded.unheard.empty()) << name;
    EXPECT_EQ(decoded.damaged_packets, 0) << name;
  }
}

TEST(DecoderWavePartsTest, WhatFollowsIsNamed) {
  const ByteVector wave = WaveBuilder{}.Build(Constant(16'000, 100));
  // More samples than the header states; they may look like a chunk.
  for (const char* text : {"\x01\x02\x03\x04", "abcd"}) {
    ByteVector more(20'000, 0x11);
    std::copy_n(text, 4, more.begin());
    std::fill_n(more.begin() + 4, 4, uint8_t{0});
    more[5] = 1;
    const Decoded decoded = Decode(Joined({wave, more}));
    EXPECT_EQ(decoded.samples.size(), 16'000u);
    ASSERT_EQ(decoded.unheard.size(), 1u) << text;
    EXPECT_EQ(decoded.unheard[0].bytes, 20'000);
    EXPECT_DOUBLE_EQ(decoded.unheard[0].at_s, 1.0);
  }
}

TEST(DecoderWavePartsTest, TagsPaddingAndChunksAreNoAudio) {
  const ByteVector wave = WaveBuilder{}.Build(Constant(16'000, 100));
  ByteVector ape(32, 0);
  std::copy_n("APETAGEX", 8, ape.begin());
  for (const ByteVector& behind :
       {ByteVector(20'000, 0), ByteVector(7, 0x11), ape, WaveBuilder::Chunk("LIST", 26),
        WaveBuilder::Chunk("ownX", 1'001),
        Joined({WaveBuilder::Chunk("ownX", 11), WaveBuilder::Chunk("bext", 9)}),
        ByteVector{'L', 'I', 'S', 'T', 0xff, 0xff, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}) {
    const Decoded decoded = Decode(Joined({wave, behind}));
    EXPECT_EQ(decoded.samples.size(), 16'000u);
    EXPECT_TRUE(decoded.unheard.empty()) << behind.size();
    EXPECT_EQ(decoded.damaged_packets, 0);
  }
}

TEST(DecoderWavePartsTest, OddChunksMayLackTheirPadding) {
  WaveBuilder wave;
  wave.before_data = WaveBuilder::Chunk("LIST", 27);
  wave.before_data.pop_back();
  EXPECT_EQ(Decode(wave.Build(Constant(8, 1))).samples.size(), 8u);
  WaveBuilder bytes{.bits = 8};
  bytes.after_data = DataChunk(Constant(4, 1));
  EXPECT_EQ(Decode(bytes.Build(ByteVector(7, 128))).samples.size(), 15u);
}

TEST(DecoderWavePartsTest, SizesOf64BitsCountOnlyWhereTheOthersAreMissing) {
  const std::vector<int16_t> samples = Constant(16'000, 100);
  for (const char* riff : {"RF64", "BW64"}) {
    WaveBuilder wave{.riff = riff};
    const auto expect_whole = [&](const char* what) {
      const Decoded decoded = Decode(wave.Build(samples));
      EXPECT_EQ(decoded.samples.size(), samples.size()) << riff << ": " << what;
      EXPECT_TRUE(decoded.unheard.empty()) << riff << ": " << what;
      EXPECT_FALSE(decoded.stated_length.has_value()) << riff << ": " << what;
    };
    wave.stated_bytes_64 = 4;
    expect_whole("its own size, and another one in ds64");
    wave.stated_data_bytes = 0xffffffff;
    wave.stated_bytes_64 = -1;
    wave.after_data = WaveBuilder::Chunk("LIST", 400);
    expect_whole("the size in ds64, and a chunk behind it");
    wave.after_data.clear();
    wave.stated_bytes_64 = 0;
    expect_whole("0 in ds64");
    wave.stated_bytes_64 = std::numeric_limits<int64_t>::max();
    expect_whole("a placeholder in ds64");
    wave.has_ds64 = false;
    wave.before_data = WaveBuilder::Chunk("JUNK", 28);
    expect_whole("JUNK in place of ds64");
    wave.stated_data_bytes = -1;
    expect_whole("no ds64, and a size of its own");
  }
  const Decoded cut = Decode(
      WaveBuilder{.stated_data_bytes = 0xffffffff, .riff = "RF64", .stated_bytes_64 = 64'000}.Build(samples));
  ASSERT_TRUE(cut.stated_length.has_value());
  EXPECT_DOUBLE_EQ(cut.stated_length->stated_s.value_or(0.0), 2.0);
}

TEST(DecoderWavePartsTest, BothByteOrders) {
  const std::vector<int16_t> samples = {0, 1, -1, 12'345, -32'768};
  EXPECT_EQ(Decode(WaveBuilder{.riff = "RIFX"}.Build(samples)).samples,
            Decode(WaveBuilder{}.Build(samples)).samples);
  const std::vector<float> floats = {0.25f, -0.5f};
  EXPECT_EQ(Decode(WaveBuilder{.tag = 3, .bits = 32, .riff = "RIFX"}.Build(floats)).samples, floats);
  EXPECT_EQ(Decode(WaveBuilder{.tag = 3, .bits = 64, .riff = "RIFX"}.Build<double>({0.25, -0.5})).samples,
            floats);
  EXPECT_EQ(Decode(WaveBuilder{.bits = 32, .riff = "RIFX"}.Build<int32_t>({1 << 30})).samples,
            std::vector<float>{0.5f});
  EXPECT_EQ(Decode(WaveBuilder{.bits = 24, .riff = "RIFX"}.Build<uint8_t>({0x40, 0, 0})).samples,
            std::vector<float>{0.5f});
}

TEST(DecoderWavePartsTest, RegionsReachIntoEveryPart) {
  const ByteVector second = WaveBuilder{}.Build(Constant(8'000, -200));
  for (const int64_t stated : {-1, 0}) {
    const ByteVector first = WaveBuilder{.stated_data_bytes = stated}.Build(Constant(16'000, 100));
    const DecodeOptions options{.region = {0.5, 1.25}};
    EXPECT_EQ(Decode(Joined({first, second}), options).samples, Floats({{8'000, 100}, {4'000, -200}}));
  }
  // Unheard bytes belong to the regions that include them.
  ByteVector more(20'000, 0x11);
  const ByteVector with_rest = Joined({second, more});
  EXPECT_TRUE(Decode(with_rest, {.region = {0.1, 0.4}}).unheard.empty());
  EXPECT_EQ(Decode(with_rest, {.region = {0.1, {}}}).unheard.size(), 1u);
}

TEST(DecoderWavePartsTest, RangesAndSavedStatesGiveTheSame) {
  const StopSignal never;
  for (const int64_t stated : {-1, 0}) {
    std::vector<int16_t> ramp(40'000);
    for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<int16_t>(i * 7);
    const ByteVector first = WaveBuilder{.stated_data_bytes = stated}.Build(ramp);
    const ByteVector joined =
        Joined({first, WaveBuilder{.stated_data_bytes = stated, .riff = "RIFX"}.Build(ramp)});
    const std::vector<float> whole = Decode(joined).samples;
    ASSERT_EQ(whole.size(), 80'000u);

    SpanReader reader(joined);
    RangedSource ranges(reader, joined.size(), never, kSmallBlocks);
    Decoder before(ranges, {}, never);
    std::vector<float> samples;
    MonoBlock block;
    while (before.Next(block)) {
      samples.insert(samples.end(), block.samples.begin(), block.samples.end());
      SavedState saved;
      before.Transfer(saved);
      RangedSource again(reader, joined.size(), never, kSmallBlocks);
      Decoder after(again, {}, never);
      SavedState read(saved.bytes());
      after.Transfer(read);
      const Decoded rest = DrainSource(after);
      ASSERT_EQ(rest.samples,
                std::vector<float>(whole.begin() + static_cast<ptrdiff_t>(samples.size()), whole.end()));
    }
    EXPECT_EQ(samples, whole);
  }
}

TEST(DecoderWavePartsTest, HeadersWithoutEndAreBorne) {
  // As many headers as fit; each could start the next file.
  ByteVector bytes = WaveBuilder{.stated_data_bytes = 0}.Build(Constant(1'000, 1));
  for (int i = 0; i < 200'000; ++i) {
    for (const char letter : {'R', 'I', 'F', 'F', '\x04', '\0', '\0', '\0', 'W', 'A', 'V', 'E'})
      bytes.push_back(static_cast<uint8_t>(letter));
  }
  EXPECT_GE(Decode(bytes).samples.size(), 1'000u);
}

// The search for the gain of floats finds the next file and its format.
TEST(DecoderWavePartsTest, AnEndlessFloatFileIsFollowedByOneOfAnotherFormat) {
  const ByteVector floats =
      WaveBuilder{.tag = 3, .bits = 32, .stated_data_bytes = 0}.Build(ByteVector(4 * 100'000, 0));
  const ByteVector file = Joined({floats, WaveBuilder{}.Build(Constant(1'000, 1))});
  const auto decoded = Decode(file);
  EXPECT_EQ(decoded.samples.size(), 101'000u);
  EXPECT_TRUE(decoded.unheard.empty());
}

// In a part without an end, each header may begin the next file; these do not.
TEST(DecoderWavePartsTest, FalseHeadersDoNotMultiplyTheSearchForTags) {
  constexpr size_t kTags = 200;
  ByteVector tags;
  for (size_t i = 0; i < kTags; ++i) WaveBuilder::AppendText(tags, std::string_view("ID3\3\0\0\0\0\0\0", 10));
  tags.resize(tags.size() + 100, 1);
  const auto reads_with = [&](int headers) {
    ByteVector bytes = WaveBuilder{.stated_data_bytes = 0}.Build(Constant(1'000, 1));
    for (int i = 0; i < headers; ++i) {
      for (const char* header : {"RIFF    WAVE", "RIFF    AVI "}) WaveBuilder::AppendText(bytes, header);
    }
    const ByteVector file = Joined({bytes, tags});
    CountingSource source(file);
    const StopSignal never;
    Decoder decoder(source, {}, never);
    // The first mark of another format.
    EXPECT_EQ(DrainSource(decoder).unheard.size(), 1u);
    return source.reads;
  };
  EXPECT_LT(reads_with(90), reads_with(10) + 80 * 50);
}

TEST(DecoderWavePartsTest, ManyJoinedFilesTakeTimeInProportion) {
  const auto seconds_for = [](uint32_t files) {
    ByteVector bytes;
    for (uint32_t i = 0; i < files; ++i) {
      const WaveBuilder wave{.tag = 3, .sample_rate_hz = 8'000 + i, .bits = 32, .stated_data_bytes = 0};
      const ByteVector file = wave.Build(std::vector<float>{0.5f});
      bytes.insert(bytes.end(), file.begin(), file.end());
    }
    const std::clock_t begin = std::clock();
    EXPECT_EQ(Decode(bytes).samples.size(), files);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds_for(32'000), 20.0 * seconds_for(4'000));
}

TEST(DecoderWavePartsTest, SmallPartsOfManyChannelsAreReadOnce) {
  const ByteVector file = WaveBuilder{.channels = 32, .stated_data_bytes = 0}.Build(Constant(32, 1));
  ByteVector bytes;
  for (int i = 0; i < 5'000; ++i) bytes.insert(bytes.end(), file.begin(), file.end());
  const std::clock_t begin = std::clock();
  EXPECT_EQ(Decode(bytes).samples.size(), 5'000u);
  // Before, 13 s in an ordinary build.
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 5.0);
}

// Asks for a stop once its bytes have been read so often.
class StoppingSource final : public ByteSource {
 public:
  StoppingSource(std::span<const uint8_t> bytes, int reads) : bytes_(bytes), left_(reads) {}
  uint64_t size() const override { return bytes_.size(); }
  std::span<const uint8_t> Read(uint64_t offset, size_t count) override {
    if (--left_ == 0) __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
    return bytes_.Read(offset, count);
  }

  int32_t flag = 0;

 private:
  MemorySource bytes_;
  int left_;
};

TEST(DecoderWavePartsTest, AStopIsObeyedInFrontOfARegion) {
  const ByteVector file = WaveBuilder{.stated_data_bytes = 0}.Build(Constant(1, 100));
  ByteVector bytes;
  for (int i = 0; i < 2'000; ++i) bytes.insert(bytes.end(), file.begin(), file.end());
  StoppingSource source(bytes, 1'000);
  const StopSignal stop(&source.flag, StopSignal::Clock::time_point::max());
  Decoder decoder(source, {.region = {0.1, {}}}, stop);
  MonoBlock block;
  try {
    decoder.Next(block);
    ADD_FAILURE() << "not stopped";
  } catch (const StageError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

TEST(DecoderWavePartsTest, FloatsOfAnotherScaleAreScaled) {
  std::vector<float> proper(48'000);
  for (size_t i = 0; i < proper.size(); ++i)
    proper[i] = static_cast<float>((i * 7919) % 60'000) / 65536.0f - 0.4f;
  for (const int bits : {15, 23, 31}) {
    std::vector<float> floats = proper;
    for (float& sample : floats) sample = std::ldexp(sample, bits);
    EXPECT_EQ(Decode(WaveBuilder{.tag = 3, .bits = 32}.Build(floats)).samples, proper) << bits;
    EXPECT_EQ(Decode(WaveBuilder{.tag = 3, .bits = 32, .riff = "RIFX"}.Build(floats)).samples, proper)
        << bits;
    const std::vector<double> doubles(floats.begin(), floats.end());
    EXPECT_EQ(Decode(WaveBuilder{.tag = 3, .bits = 64}.Build(doubles)).samples, proper) << bits;
  }
  // Resamplers go slightly beyond full scale; far beyond, only the shape counts.
  std::vector<float> loud = proper;
  for (float& sample : loud) sample *= 2.0f;
  EXPECT_EQ(Decode(WaveBuilder{.tag = 3, .bits = 32}.Build(loud)).samples, loud);
  for (float& sample : loud) sample *= 1e20f;
  for (const float sample : Decode(WaveBuilder{.tag = 3, .bits = 32}.Build(loud)).samples) {
    EXPECT_LE(std::abs(sample), 1.0f);
  }
}

TEST(DecoderWavePartsTest, AFewWildSamplesDoNotSilenceTheRest) {
  std::vector<float> floats(48'000, 0.25f);
  floats[20'000] = 3e38f;
  floats[20'001] = -3e38f;
  const std::vector<float> samples = Decode(WaveBuilder{.tag = 3, .bits = 32}.Build(floats)).samples;
  EXPECT_EQ(samples[10], 0.25f);
  EXPECT_GT(samples[20'000], 1.0f);
  EXPECT_LT(samples[20'001], -1.0f);
}

TEST(DecoderWavePartsTest, LogarithmicSamples) {
  // ITU-T G.711: loudest, quietest, and one in between, of both signs.
  EXPECT_EQ(Decode(WaveBuilder{.tag = 7, .bits = 8}.Build<uint8_t>({0x00, 0x80, 0xff, 0x7f, 0xaa})).samples,
            Floats({{1, -32124}, {1, 32124}, {1, 0}, {1, 0}, {1, 5372}}));
  EXPECT_EQ(Decode(WaveBuilder{.tag = 6, .bits = 8}.Build<uint8_t>({0x2a, 0xaa, 0xd5, 0x55})).samples,
            Floats({{1, -32256}, {1, 32256}, {1, 8}, {1, -8}}));
  EXPECT_EQ(Decode(WaveBuilder{.tag = 6, .bits = 8}.Build<uint8_t>({0xd5})).codec, "pcm_alaw");
}

}  // namespace
}  // namespace veravox::test
