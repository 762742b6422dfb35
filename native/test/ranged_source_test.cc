// SPDX-License-Identifier: Apache-2.0
// Files read in ranges: the same audio as from memory, and an end in time whatever the source does.
#include "decode/ranged_source.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "decoder_media.h"
#include "decoder_mov_builder.h"
#include "decoder_wave_builder.h"
#include "range_readers.h"

namespace veravox::test {
namespace {

Decoded DecodeRanges(RangeReader& reader, uint64_t size, const StopSignal& stop = {},
                     const RangedSource::Limits& limits = kSmallBlocks) {
  RangedSource source(reader, size, stop, limits);
  Decoder decoder(source, DecodeOptions{}, stop);
  return DrainSource(decoder);
}

std::optional<ErrorCode> RangesError(RangeReader& reader, uint64_t size, const StopSignal& stop = {}) {
  try {
    DecodeRanges(reader, size, stop);
    return std::nullopt;
  } catch (const StageError& error) {
    return error.code();
  }
}

TEST(RangedSourceTest, EveryContainerAndCodecDecodesAsFromMemory) {
  int files = 0;
  for (const char* kind : {"matrix", "special", "truncated"}) {
    for (const MediaFile& file : MediaOfKind(kind)) {
      // Every tenth of the matrix, which differs in rates and layouts, is enough.
      if (++files % 10 != 0 && std::string(kind) == "matrix") continue;
      SCOPED_TRACE(file.path);
      const ByteVector bytes = file.bytes();
      FileReader reader(file.path);
      ASSERT_EQ(reader.size(), bytes.size());
      const auto error = DecodeError(bytes);
      if (error) {
        EXPECT_EQ(RangesError(reader, bytes.size()), error);
        continue;
      }
      const Decoded expected = Decode(bytes);
      const Decoded decoded = DecodeRanges(reader, bytes.size());
      EXPECT_EQ(decoded.samples, expected.samples);
      EXPECT_EQ(decoded.damaged_packets, expected.damaged_packets);
      EXPECT_EQ(decoded.codec, expected.codec);
    }
  }
}

// Each of the first reads fails once: in the signature, in the header, in the index, amid the audio.
TEST(RangedSourceTest, FailureIsNeverTakenForTheEndOfTheFile) {
  const std::vector<MediaFile> files = MediaOfKind("matrix");
  for (const char* suffix : {".flac", ".m4a", ".mp3", ".wav", ".ogg"}) {
    SCOPED_TRACE(suffix);
    const auto file = std::find_if(files.begin(), files.end(), [&](const MediaFile& candidate) {
      return candidate.path.ends_with(suffix);
    });
    ASSERT_NE(file, files.end());
    const ByteVector bytes = file->bytes();
    SpanReader memory(bytes);
    int reads = 0;
    HookedReader counting(memory, [&] { ++reads; });
    DecodeRanges(counting, bytes.size());
    const int total = reads;
    ASSERT_GT(total, 2);
    for (int failing = 1; failing <= total; failing += 1 + total / 20) {
      int count = 0;
      HookedReader reader(memory, [&] {
        if (++count == failing) throw StageError(ErrorCode::kSourceFailed, "The connection was lost.");
        // The source does not ask again after a failure.
        EXPECT_LT(count, failing + 1);
      });
      EXPECT_EQ(RangesError(reader, bytes.size()), ErrorCode::kSourceFailed) << "read " << failing;
    }
  }
}

TEST(RangedSourceTest, FileThatBecomesShorterFails) {
  const ByteVector bytes = WaveBuilder{}.Build(std::vector<int16_t>(50000, 7));
  const std::string path = testing::TempDir() + "shorter.wav";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  FileReader reader(path);
  int reads = 0;
  HookedReader hooked(reader, [&] {
    if (++reads == 20) ASSERT_EQ(truncate(path.c_str(), 10000), 0);
  });
  EXPECT_EQ(RangesError(hooked, bytes.size()), ErrorCode::kSourceFailed);
  unlink(path.c_str());
}

TEST(RangedSourceTest, StopsAndDeadlinesEndASlowSource) {
  const ByteVector bytes = WaveBuilder{}.Build(std::vector<int16_t>(500000, 7));
  SpanReader memory(bytes);
  int32_t flag = 0;
  int reads = 0;
  HookedReader stopping(memory, [&] {
    if (++reads == 5) flag = 1;
  });
  EXPECT_EQ(RangesError(stopping, bytes.size(), StopSignal(&flag, StopSignal::Clock::time_point::max())),
            ErrorCode::kCancelled);
  EXPECT_EQ(reads, 5);

  using std::chrono::milliseconds;
  HookedReader slow(memory, [] { std::this_thread::sleep_for(milliseconds(20)); });
  EXPECT_EQ(RangesError(slow, bytes.size(), StopSignal(nullptr, StopSignal::Clock::now() + milliseconds(50))),
            ErrorCode::kDeadline);
}

TEST(RangedSourceTest, ScatteredReadsEndAtTwiceTheFile) {
  const ByteVector bytes(100 * 1021, 1);
  SpanReader memory(bytes);
  const StopSignal stop;
  RangedSource source(memory, bytes.size(), stop,
                      {.block_bytes = 1021, .kept_blocks = 2, .spare_blocks = 10});
  const auto read_all = [&] {
    for (uint64_t i = 0;; ++i) source.Read(i * 37 % 100 * 1021, 1);
  };
  EXPECT_THROW(read_all(), StageError);
  EXPECT_EQ(source.blocks_read(), 2u * 101 + 10 + 1);
}

// One-byte samples, alternately at either end of the file: memory reads such a file in one go.
TEST(RangedSourceTest, ContainerThatJumpsAboutIsRefused) {
  const ByteVector bytes = MovBuilder::JumpingAbout(4000, 2'000'000);
  ASSERT_EQ(DecodeError(bytes), std::nullopt);
  SpanReader memory(bytes);
  const RangedSource::Limits limits{.block_bytes = 64 * 1024, .kept_blocks = 1, .spare_blocks = 16};
  const StopSignal stop;
  try {
    DecodeRanges(memory, bytes.size(), stop, limits);
    FAIL() << "Expected a StageError.";
  } catch (const StageError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUndecodable);
    EXPECT_NE(std::string(error.what()).find("far apart"), std::string::npos) << error.what();
  }
}

TEST(RangedSourceTest, KeepsAsManyBlocksAsItMay) {
  const ByteVector bytes(10 * 1021, 1);
  SpanReader memory(bytes);
  const StopSignal stop;
  RangedSource source(memory, bytes.size(), stop, kSmallBlocks);
  for (const uint64_t block : {0, 1, 2, 0, 1, 2}) source.Read(block * 1021, 1);
  EXPECT_EQ(source.blocks_read(), 3u);
  source.Read(3 * 1021, 1);  // in place of block 0
  source.Read(1 * 1021, 1);
  EXPECT_EQ(source.blocks_read(), 4u);
  source.Read(0, 1);
  EXPECT_EQ(source.blocks_read(), 5u);
}

}  // namespace
}  // namespace veravox::test
