// SPDX-License-Identifier: Apache-2.0
// Cancellation, deadlines, and limits on duration, rate, channels and memory.
#include <gtest/gtest.h>
#include <malloc.h>

#include <string_view>

#include "counting_source.h"
#include "decode/demuxer.h"
#include "decoder_media.h"
#include "decoder_mov_builder.h"
#include "decoder_wave_builder.h"

namespace veravox::test {
namespace {

using Clock = StopSignal::Clock;

TEST(DecoderLimitsTest, CancelledBeforeTheStart) {
  const int32_t flag = 1;
  const StopSignal stop(&flag, Clock::time_point::max());
  for (const char* name : {"wav-stereo-44100.wav", "mp3-stereo-44100.mp3", "mkv-stereo-44100.mkv"}) {
    EXPECT_EQ(DecodeError(MediaNamed("matrix", name).bytes(), {}, stop), ErrorCode::kCancelled) << name;
  }
}

TEST(DecoderLimitsTest, CancelledOnTheWay) {
  for (const char* name : {"wav-stereo-96000.wav", "mp3-stereo-44100.mp3", "ogg-vorbis-stereo-44100.ogg"}) {
    const ByteVector bytes = MediaNamed("matrix", name).bytes();
    int32_t flag = 0;
    const StopSignal stop(&flag, Clock::time_point::max());
    Decoder decoder(bytes, {}, stop);
    MonoBlock block;
    ASSERT_TRUE(decoder.Next(block)) << name;
    __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
    try {
      decoder.Next(block);
      ADD_FAILURE() << name << " was not stopped";
    } catch (const StageError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCancelled) << name;
    }
  }
}

TEST(DecoderLimitsTest, DeadlineInTheMiddle) {
  const ByteVector bytes = MediaNamed("long", "long.flac").bytes();
  const StopSignal stop(nullptr, Clock::now() + std::chrono::milliseconds(5));
  EXPECT_EQ(DecodeError(bytes, {}, stop), ErrorCode::kDeadline);
}

TEST(DecoderLimitsTest, DeadlineWhileTheHeaderIsRead) {
  // Four million empty boxes, and nothing behind them.
  const std::string_view empty_box(
      "\0\0\0\x08"
      "free",
      8);
  ByteVector bytes(32 << 20);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(empty_box[i % empty_box.size()]);
  const StopSignal stop(nullptr, Clock::now() + std::chrono::milliseconds(5));
  EXPECT_EQ(DecodeError(bytes, {}, stop), ErrorCode::kDeadline);
}

// libavformat tries each byte in front of the first frame.
TEST(DecoderLimitsTest, ASearchForTheFirstFrameReadsTheFileOnce) {
  const ByteVector file = Joined({Noise(60'000, 1), MediaNamed("matrix", "mp3-stereo-44100.mp3").bytes()});
  CountingSource source(file);
  const Container mp3{.name = "mp3", .demuxer = "mp3"};
  const StopSignal stop;
  Demuxer demuxer(source, 0, mp3, stop);
  EXPECT_LE(source.bytes, file.size());
}

// Each entry of a table may name all bytes of the file.
TEST(DecoderLimitsTest, BytesAreReadSoOften) {
  MovBuilder mov{.samples = std::vector<int16_t>(50'000, 1), .sample_ticks = 2, .sample_bytes = 100'000};
  mov.stated_samples = 1'000;
  mov.chunk_offsets.assign(1'000, 100);
  const ByteVector file = mov.Build();
  CountingSource source(file);
  const StopSignal never;
  Decoder decoder(source, {}, never);
  EXPECT_THROW(DrainSource(decoder), StageError);
  EXPECT_LT(source.bytes, 200 * file.size());
}

TEST(DecoderLimitsTest, AnotherTrackIsReadOnce) {
  MovBuilder mov{.samples = std::vector<int16_t>(50'000, 1), .sample_ticks = 2};
  mov.other_offsets.assign(50'000, 100);
  mov.chunk_offsets = {100};
  mov.stated_samples = 1;
  mov.sample_bytes = 100'000;
  const ByteVector file = mov.Build();
  CountingSource source(file);
  const StopSignal never;
  Decoder decoder(source, {}, never);
  const Decoded decoded = DrainSource(decoder);
  EXPECT_EQ(decoded.samples.size(), 50'000u);
  ASSERT_EQ(decoded.unheard.size(), 1u);
  EXPECT_LE(decoded.unheard.front().bytes, static_cast<int64_t>(file.size()));
  EXPECT_LT(source.bytes, 20 * file.size());
}

TEST(DecoderLimitsTest, TooLongIsSaidAsSoonAsItIsKnown) {
  const ByteVector bytes = MediaNamed("long", "long.flac").bytes();
  const DecodeOptions options{.limits = {.max_duration_s = 7.5}};
  try {
    Decode(bytes, options);
    FAIL() << "300 s passed a limit of 7.5 s";
  } catch (const StageError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kTooLong);
    EXPECT_GT(error.measured_s(), 7.5);
    EXPECT_LT(error.measured_s(), 10);
  }
}

TEST(DecoderLimitsTest, ExactlyAsLongAsAllowed) {
  const ByteVector wave = WaveBuilder{}.Build(std::vector<int16_t>(48000, 7));
  EXPECT_EQ(DecodeError(wave, {.limits = {.max_duration_s = 3.0}}), std::nullopt);
  EXPECT_EQ(DecodeError(wave, {.limits = {.max_duration_s = 2.9999}}), ErrorCode::kTooLong);
}

TEST(DecoderLimitsTest, ManyBlocksThatAreExactlyAsLongAsAllowed) {
  // Its blocks add up to more than 12 seconds.
  const ByteVector wave = WaveBuilder{}.Build(std::vector<int16_t>(192000, 7));
  EXPECT_EQ(DecodeError(wave, {.limits = {.max_duration_s = 12.0}}), std::nullopt);
}

TEST(DecoderLimitsTest, DurationsThatHeadersClaimAreNotBelieved) {
  // 64 bytes that claim to be 37 hours.
  const ByteVector wave = WaveBuilder{.stated_data_bytes = 0xfffffff0}.Build(std::vector<int16_t>(32, 7));
  EXPECT_EQ(DecodeError(wave, {.limits = {.max_duration_s = 1.0}}), std::nullopt);
}

TEST(DecoderLimitsTest, ChannelsAndRatesOfEveryFormat) {
  for (const MediaFile& file : MediaOfKind("matrix")) {
    const ByteVector bytes = file.bytes();
    if (file.path.find("-5.1-") != std::string::npos) {
      EXPECT_EQ(DecodeError(bytes, {.limits = {.max_channels = 5}}), ErrorCode::kTooManyChannels)
          << file.path;
      EXPECT_EQ(DecodeError(bytes, {.limits = {.max_channels = 6}}), std::nullopt) << file.path;
    }
    if (file.sample_rate_hz == 22050) {
      EXPECT_EQ(DecodeError(bytes, {.limits = {.max_sample_rate_hz = 22049}}),
                ErrorCode::kSampleRateOutOfRange)
          << file.path;
      EXPECT_EQ(DecodeError(bytes, {.limits = {.min_sample_rate_hz = 22051}}),
                ErrorCode::kSampleRateOutOfRange)
          << file.path;
    }
  }
}

// Bytes of heap in use. Sanitizers have their own heap and report nothing here.
size_t HeapInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(DecoderLimitsTest, MemoryDoesNotGrowWithDuration) {
  const ByteVector bytes = MediaNamed("long", "long.flac").bytes();
  const StopSignal stop;
  const size_t before = HeapInUse();
  Decoder decoder(bytes, {}, stop);
  size_t most = before;
  size_t samples = 0;
  for (MonoBlock block; decoder.Next(block); samples += block.samples.size())
    most = std::max(most, HeapInUse());
  EXPECT_EQ(samples, 300u * 16000u);
  EXPECT_LT(most - before, 2u << 20);
}

TEST(DecoderLimitsTest, OnePacketAsLargeAsTheFileIsHandedOutInBlocks) {
  const ByteVector wave = WaveBuilder{.tag = 6, .bits = 8}.Build(std::vector<uint8_t>(3 << 20, 0x2a));
  const StopSignal stop;
  Decoder decoder(wave, {}, stop);
  size_t samples = 0;
  for (MonoBlock block; decoder.Next(block); samples += block.samples.size()) {
    ASSERT_LE(block.samples.size(), 16u * 1024u);
  }
  EXPECT_EQ(samples, size_t{3 << 20});
}

}  // namespace
}  // namespace veravox::test
