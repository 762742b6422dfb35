// SPDX-License-Identifier: Apache-2.0
// The decoder against the ffmpeg command on the same files: every container, codec, rate and layout.
#include <gtest/gtest.h>

#include "decode/container_sniffer.h"
#include "decode/demuxer.h"
#include "decode/libav_source.h"
#include "decode/wave_source.h"
#include "decoder_media.h"

namespace veravox::test {
namespace {

void ExpectAgreement(const MediaFile& file, const Decoded& decoded) {
  const std::vector<float> reference = ReadFloats(file.reference);
  EXPECT_NEAR(static_cast<double>(decoded.samples.size()), static_cast<double>(reference.size()), 1);
  EXPECT_GT(Correlation(decoded.samples, reference), 0.9999);
  EXPECT_LT(LargestDifference(decoded.samples, reference), 1e-3);
  EXPECT_EQ(decoded.rates_hz, std::vector<int>{file.sample_rate_hz});
}

void ExpectEachAgrees(const std::vector<MediaFile>& files) {
  for (const MediaFile& file : files) {
    SCOPED_TRACE(file.path);
    const Decoded decoded = Decode(file.bytes());
    ExpectAgreement(file, decoded);
    EXPECT_EQ(decoded.damaged_packets, 0);
  }
}

TEST(DecoderAgreementTest, EveryFormatRateAndLayout) {
  const auto files = MediaOfKind("matrix");
  EXPECT_GT(files.size(), 200u);
  ExpectEachAgrees(files);
}

TEST(DecoderAgreementTest, LessCommonCodecsAndContainers) { ExpectEachAgrees(MediaOfKind("special")); }

TEST(DecoderAgreementTest, TruncatedFilesGiveWhatIsLeft) {
  for (const MediaFile& file : MediaOfKind("truncated")) {
    SCOPED_TRACE(file.path);
    if (!file.reference.empty()) {
      ExpectAgreement(file, Decode(file.bytes()));
      continue;
    }
    const auto error = DecodeError(file.bytes());
    EXPECT_TRUE(error == ErrorCode::kUndecodable || error == ErrorCode::kNoAudioStream) << Describe(error);
  }
}

TEST(DecoderAgreementTest, WaveFilesAreReadAsLibavformatReadsThem) {
  int compared = 0;
  for (const char* kind : {"matrix", "special", "truncated"}) {
    for (const MediaFile& file : MediaOfKind(kind)) {
      const ByteVector bytes = file.bytes();
      MemorySource source(bytes);
      if (SniffContainer(source).container != &WaveContainer()) continue;
      const WaveFile wave = ReadWaveFile(source, 0);
      if (wave.parts.empty() || !wave.formats[wave.parts[0].format].coding) continue;
      SCOPED_TRACE(file.path);
      const StopSignal stop;
      WaveSource ours(source, wave, DecodeOptions{}, stop);
      auto demuxer = std::make_unique<Demuxer>(source, 0, *SniffContainer(source).container, stop);
      LibavSource libav(std::move(demuxer), DecodeOptions{}, stop);
      const Decoded expected = DrainSource(libav);
      const Decoded decoded = DrainSource(ours);
      EXPECT_EQ(decoded.samples, expected.samples);
      EXPECT_EQ(decoded.rates_hz, expected.rates_hz);
      // libavformat treats a missing end as a damaged packet.
      EXPECT_EQ(decoded.damaged_packets, 0);
      EXPECT_EQ(decoded.stated_length.has_value(), expected.damaged_packets > 0);
      EXPECT_EQ(decoded.codec, expected.codec);
      ++compared;
    }
  }
  EXPECT_GT(compared, 25);
}

}  // namespace
}  // namespace veravox::test
