// SPDX-License-Identifier: Apache-2.0
// Tags and junk around the audio, damage inside it, and streams that change on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "decoder_media.h"

namespace veravox::test {
namespace {

ByteVector Id3Tag(size_t body_bytes) {
  ByteVector tag = {'I', 'D', '3', 3, 0, 0};
  for (int shift = 21; shift >= 0; shift -= 7)
    tag.push_back(static_cast<uint8_t>(body_bytes >> shift & 0x7f));
  // Resembles MPEG frames, as the thumbnails in real tags sometimes do.
  for (size_t i = 0; i < body_bytes; ++i) tag.push_back(i % 2 == 0 ? 0xff : 0xfb);
  return tag;
}

TEST(DecoderDamageTest, TagsInFrontOfTheAudio) {
  for (const char* name :
       {"mp3-stereo-44100.mp3", "aac-stereo-44100.aac", "flac-stereo-44100.flac", "wav-stereo-44100.wav"}) {
    const ByteVector plain = MediaNamed("matrix", name).bytes();
    const auto expected = Decode(plain).samples;
    EXPECT_EQ(Decode(Joined({Id3Tag(11), plain})).samples, expected) << name;
    EXPECT_EQ(Decode(Joined({Id3Tag(2000000), Id3Tag(5000), plain})).samples, expected) << name;
  }
}

TEST(DecoderDamageTest, ATagThatNeverEnds) {
  ByteVector tag = Id3Tag(1000);
  tag[6] = 0x7f;
  EXPECT_EQ(DecodeError(tag), ErrorCode::kUnsupportedFormat);
}

TEST(DecoderDamageTest, JunkAroundMpegFrames) {
  for (const char* name : {"mp3-stereo-44100.mp3", "aac-stereo-44100.aac"}) {
    const ByteVector plain = MediaNamed("matrix", name).bytes();
    const auto expected = Decode(plain).samples.size();
    const auto front = Decode(Joined({ByteVector(3000, 0), plain})).samples.size();
    EXPECT_NEAR(static_cast<double>(front), static_cast<double>(expected), 3000) << name;
    ByteVector tag(128, ' ');
    std::memcpy(tag.data(), "TAG", 3);
    const auto behind = Decode(Joined({plain, tag})).samples.size();
    EXPECT_NEAR(static_cast<double>(behind), static_cast<double>(expected), 1152) << name;
  }
}

// Audio that the ffmpeg command omits counts as silence here, so that later times stay right.
std::vector<float> WithoutGaps(const std::vector<float>& samples, int rate_hz) {
  std::vector<float> kept;
  for (size_t i = 0; i < samples.size();) {
    size_t end = i;
    while (end < samples.size() && samples[end] == 0.0f) ++end;
    const bool is_gap = 10 * (end - i) >= static_cast<size_t>(rate_hz);
    if (!is_gap) kept.insert(kept.end(), samples.begin() + i, samples.begin() + end);
    if (end < samples.size()) kept.push_back(samples[end]);
    i = end + 1;
  }
  return kept;
}

TEST(DecoderDamageTest, DamagedFilesGiveWhatFfmpegGives) {
  int counted = 0;
  for (const MediaFile& file : MediaOfKind("damaged")) {
    SCOPED_TRACE(file.path);
    const auto reference = ReadFloats(file.reference);
    Decoded decoded = Decode(file.bytes());
    decoded.samples = WithoutGaps(decoded.samples, file.sample_rate_hz);
    // If several FLAC frames end up in one damaged packet, the ffmpeg command drops all but the first.
    EXPECT_GE(decoded.samples.size() + 1, reference.size());
    if (decoded.samples.size() <= reference.size() + 1) {
      EXPECT_GT(Correlation(decoded.samples, reference), 0.9999);
    } else {
      EXPECT_EQ(decoded.codec, "flac");
    }
    if (decoded.damaged_packets > 0) ++counted;
  }
  EXPECT_GE(counted, 5) << "damage is hardly noticed";
}

TEST(DecoderDamageTest, AWrongBitIsNoticedWhereverFramesHaveChecksums) {
  const struct {
    const char* kind;
    const char* name;
  } files[] = {{"matrix", "flac-stereo-44100.flac"},
               {"matrix", "mkv-flac-stereo-44100.mkv"},
               // A frame lasts less than the jitter of time stamps that makes no gap.
               {"matrix", "flac-stereo-48000.flac"},
               {"matrix", "mkv-flac-stereo-48000.mkv"},
               {"matrix", "avi-ac3-stereo-44100.avi"},
               {"special", "eac3.mkv"}};
  for (const auto& [kind, name] : files) {
    SCOPED_TRACE(name);
    ByteVector bytes = MediaNamed(kind, name).bytes();
    const Decoded whole = Decode(bytes);
    EXPECT_EQ(whole.damaged_packets, 0);
    int noticed = 0;
    constexpr int kPlaces = 24;
    for (int place = 0; place < kPlaces; ++place) {
      const size_t at = bytes.size() * static_cast<size_t>(place + 8) / (kPlaces + 16);
      bytes[at] ^= 0x10;
      const Decoded decoded = Decode(bytes);
      bytes[at] ^= 0x10;
      if (decoded.damaged_packets > 0) ++noticed;
      // Time stamps of Matroska are in milliseconds.
      EXPECT_NEAR(static_cast<double>(decoded.samples.size()), static_cast<double>(whole.samples.size()), 50);
    }
    // A few places belong to no frame.
    EXPECT_GE(noticed, kPlaces - 2);
  }
}

TEST(DecoderDamageTest, LongDamageOfFlacIsNamed) {
  const ByteVector bytes = MediaNamed("long", "long.flac").bytes();
  const auto whole_s = static_cast<double>(Decode(bytes).samples.size()) / 16000;
  constexpr size_t kHoleBytes = 1'000'000;
  const auto third = bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 3);
  const auto with = [&](const ByteVector& hole, bool goes_on) {
    const ByteVector rest = goes_on ? ByteVector(third + kHoleBytes, bytes.end()) : ByteVector();
    return Joined({ByteVector(bytes.begin(), third), hole, rest});
  };
  const ByteVector noise = Noise(kHoleBytes, 1);
  for (const ByteVector& damaged :
       {with(ByteVector(kHoleBytes, 0), true), with(noise, true), with(noise, false)}) {
    const auto unheard = Decode(damaged).unheard;
    ASSERT_EQ(unheard.size(), 1u);
    EXPECT_EQ(unheard[0].what, "damaged data");
    EXPECT_NEAR(static_cast<double>(unheard[0].bytes), kHoleBytes, 20'000);
    EXPECT_NEAR(unheard[0].at_s, whole_s / 3, whole_s / 20);
  }
}

TEST(DecoderDamageTest, TheRateMayChangeOnTheWay) {
  const struct {
    const char* first;
    const char* second;
  } pairs[] = {
      {"mp3-stereo-44100.mp3", "mp3-mono-22050.mp3"},
      {"aac-stereo-44100.aac", "aac-mono-22050.aac"},
      {"ogg-vorbis-stereo-44100.ogg", "ogg-vorbis-mono-22050.ogg"},
  };
  for (const auto& [first, second] : pairs) {
    SCOPED_TRACE(first);
    const ByteVector a = MediaNamed("matrix", first).bytes();
    const ByteVector b = MediaNamed("matrix", second).bytes();
    const Decoded both = Decode(Joined({a, b}));
    EXPECT_EQ(both.rates_hz, (std::vector<int>{44100, 22050}));
    // Only the first file's encoder padding is known to be padding.
    const double expected = static_cast<double>(Decode(a).samples.size() + Decode(b).samples.size());
    EXPECT_NEAR(static_cast<double>(both.samples.size()), expected, 5000);
  }
}

// ADTS frames with a valid header and random content.
ByteVector BrokenAdtsFrames(size_t count) {
  constexpr size_t kFrameBytes = 32;
  constexpr uint8_t kHeader[] = {0xff, 0xf1, 0x50, 0x80, kFrameBytes >> 3, (kFrameBytes & 7) << 5 | 0x1f,
                                 0xfc};
  ByteVector bytes(count * kFrameBytes, 0x7b);
  for (size_t i = 0; i < count; ++i) std::memcpy(bytes.data() + i * kFrameBytes, kHeader, sizeof kHeader);
  return bytes;
}

TEST(DecoderDamageTest, DamageInFrontOfGoodAudioIsSkipped) {
  const ByteVector good = MediaNamed("matrix", "aac-stereo-44100.aac").bytes();
  const Decoded decoded = Decode(Joined({BrokenAdtsFrames(1000), good}));
  EXPECT_GE(decoded.damaged_packets, 990);
  EXPECT_GE(decoded.samples.size(), 80000u);
}

TEST(DecoderDamageTest, EndlessDamageIsGivenUp) {
  EXPECT_EQ(DecodeError(BrokenAdtsFrames(3000)), ErrorCode::kUndecodable);
  const ByteVector good = MediaNamed("matrix", "aac-stereo-44100.aac").bytes();
  EXPECT_EQ(DecodeError(Joined({good, BrokenAdtsFrames(20000), good})), ErrorCode::kUndecodable);
}

}  // namespace
}  // namespace veravox::test
