// SPDX-License-Identifier: Apache-2.0
// MOV files that name other files, and sample tables that ask for gigabytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "decoder_media.h"
#include "decoder_mov_builder.h"
#include "decoder_wave_builder.h"

namespace veravox::test {
namespace {

std::vector<int16_t> Ramp(size_t count) {
  std::vector<int16_t> samples(count);
  for (size_t i = 0; i < count; ++i) samples[i] = static_cast<int16_t>(i * 37);
  return samples;
}

TEST(DecoderHostileMovTest, TheBuilderMakesReadableFiles) {
  const auto samples = Ramp(3000);
  const Decoded decoded = Decode(MovBuilder{.samples = samples}.Build());
  ASSERT_EQ(decoded.samples.size(), samples.size());
  EXPECT_EQ(decoded.samples[1234], static_cast<float>(samples[1234]) / 32768.0f);
}

TEST(DecoderHostileMovTest, SamplesInAnotherFileAreNotFetched) {
  // The other file exists and would decode.
  const auto other =
      std::filesystem::temp_directory_path() / ("veravox-dref-" + std::to_string(getpid()) + ".mov");
  const auto inside = MovBuilder{.samples = Ramp(3000)}.Build();
  std::ofstream(other, std::ios::binary)
      .write(reinterpret_cast<const char*>(inside.data()), static_cast<std::streamsize>(inside.size()));
  MovBuilder mov{.samples = Ramp(3000)};
  mov.data_reference = MovBuilder::AliasTo(other.string());
  EXPECT_EQ(DecodeError(mov.Build()), ErrorCode::kUndecodable);
  std::filesystem::remove(other);
}

TEST(DecoderHostileMovTest, SampleCountsThatLie) {
  for (const uint32_t count : {4000u, 1u << 20, 1u << 22, 1u << 26, 1u << 28, 0x7fffffffu, 0xfffffff0u}) {
    for (const uint32_t ticks : {1u, 2u}) {
      const StopSignal stop(nullptr, StopSignal::Clock::now() + std::chrono::seconds(5));
      const MovBuilder mov{.samples = Ramp(3000), .sample_ticks = ticks, .stated_samples = count};
      const auto error = DecodeError(mov.Build(), {}, stop);
      EXPECT_TRUE(!error || error == ErrorCode::kUndecodable) << count << ": " << Describe(error);
    }
  }
}

// 64 samples of IMA ADPCM have 34 bytes. As QuickTime does, the tables count the samples.
TEST(DecoderHostileMovTest, SamplesOfBlocksAreNotLeftOut) {
  constexpr uint32_t kBlocks = 2000;
  ByteVector bytes =
      MovBuilder{.samples = std::vector<int16_t>(17 * kBlocks), .stated_samples = 64 * kBlocks}.Build();
  constexpr std::string_view kPcm = "twos", kIma = "ima4";
  const auto codec = std::search(bytes.begin(), bytes.end(), kPcm.begin(), kPcm.end());
  ASSERT_NE(codec, bytes.end());
  std::copy(kIma.begin(), kIma.end(), codec);
  const Decoded decoded = Decode(bytes);
  EXPECT_EQ(decoded.codec, "adpcm_ima_qt");
  EXPECT_EQ(decoded.samples.size(), 64u * kBlocks);
  EXPECT_TRUE(decoded.unheard.empty());
}

TEST(DecoderHostileMovTest, EditListsThatRepeatTheFileEndAtTheDeadline) {
  constexpr uint32_t kEdits = 100;
  MovBuilder mov{.samples = Ramp(3000), .sample_ticks = 2, .stated_samples = 1u << 13};
  mov.edit_list = MovBuilder::Words({0, kEdits});
  for (uint32_t i = 0; i < kEdits; ++i) {
    const auto edit = MovBuilder::Words({1, i % 2 == 0 ? mov.stated_samples : 0, 1 << 16});
    mov.edit_list.insert(mov.edit_list.end(), edit.begin(), edit.end());
  }
  const ByteVector bytes = mov.Build();
  // Processor time, since the machine may be busy.
  const std::clock_t start = std::clock();
  const auto deadline = StopSignal::Clock::now() + std::chrono::milliseconds(10);
  EXPECT_EQ(DecodeError(bytes, {}, StopSignal(nullptr, deadline)), ErrorCode::kDeadline);
  EXPECT_LT(std::clock() - start, 3 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace veravox::test
