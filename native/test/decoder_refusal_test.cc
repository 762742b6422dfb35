// SPDX-License-Identifier: Apache-2.0
// Files that are not audio, or not of a supported kind.
#include <gtest/gtest.h>

#include <string_view>

#include "decode/codec_allow_list.h"
#include "decoder_media.h"

namespace veravox::test {
namespace {

ByteVector Text(std::string_view text) { return {text.begin(), text.end()}; }

TEST(DecoderRefusalTest, NothingAtAll) {
  EXPECT_EQ(DecodeError({}), ErrorCode::kUnsupportedFormat);
  for (const size_t count : {1u, 4u, 12u, 44u, 4096u, 1000000u}) {
    EXPECT_EQ(DecodeError(ByteVector(count, 0)), ErrorCode::kUnsupportedFormat) << count << " zeros";
    EXPECT_EQ(DecodeError(ByteVector(count, 0xff)), ErrorCode::kUnsupportedFormat)
        << count << " bytes of 0xff";
  }
}

TEST(DecoderRefusalTest, RandomBytes) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(DecodeError(Noise(20000, seed)), ErrorCode::kUnsupportedFormat) << "seed " << seed;
  }
}

TEST(DecoderRefusalTest, TextThatFfmpegWouldFollow) {
  const std::string_view playlists[] = {
      "just words, and no music in them\n",
      "<!DOCTYPE html><html><body>404</body></html>",
      "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n",
      "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://127.0.0.1:1/\n",
      "ffconcat version 1.0\nfile '/etc/passwd'\n",
      "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nm=audio 5004 RTP/AVP 0\r\n",
      "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\"></MPD>",
      "<smil><body><audio src=\"http://127.0.0.1/\"/></body></smil>",
      "1\n00:00:00,000 --> 00:00:05,000\nsubtitles\n",
      ";FFMETADATA1\ntitle=x\n",
  };
  for (const std::string_view playlist : playlists) {
    EXPECT_EQ(DecodeError(Text(playlist)), ErrorCode::kUnsupportedFormat) << playlist;
  }
}

TEST(DecoderRefusalTest, OtherContainersThatFfmpegKnows) {
  using namespace std::literals;
  const std::string_view signatures[] = {
      "PK\x03\x04"sv,
      "GIF89a"sv,
      "%PDF-1.7"sv,
      "\x7f"
      "ELF"sv,
      "MThd\0\0\0\6"sv,
      "FORM\0\0\0\0AIFF"sv,
      "RIFF\x10\0\0\0WEBP"sv,
      "caff"sv,
      "FLV\x01"sv,
      "#!AMR\n"sv,
      "\x0b\x77"sv,
      "\0\0\1\xba"sv,
  };
  for (const std::string_view signature : signatures) {
    ByteVector bytes = Text(signature);
    bytes.resize(5000);
    EXPECT_EQ(DecodeError(bytes), ErrorCode::kUnsupportedFormat) << signature;
  }
}

TEST(DecoderRefusalTest, FilesWithoutAudio) {
  for (const MediaFile& file : MediaOfKind("no-audio")) {
    const bool picture = file.path.ends_with(".png") || file.path.ends_with(".jpg");
    EXPECT_EQ(DecodeError(file.bytes()), picture ? ErrorCode::kUnsupportedFormat : ErrorCode::kNoAudioStream)
        << file.path;
  }
}

TEST(DecoderRefusalTest, ASignatureAndNothingBehindIt) {
  for (const char* name : {"stereo-44100.wav", "stereo-44100.flac", "stereo-44100.ogg", "stereo-44100.m4a",
                           "stereo-44100.avi", "stereo-44100.mkv"}) {
    const std::string format = std::string(name).substr(std::string(name).rfind('.') + 1);
    const MediaFile file = MediaNamed("matrix", (format == "ogg" ? "ogg-vorbis" : format) + "-" + name);
    const ByteVector bytes = file.bytes();
    for (const size_t count : {12u, 16u, 24u, 40u}) {
      const auto error = DecodeError(std::span(bytes).first(count));
      EXPECT_TRUE(error == ErrorCode::kUndecodable || error == ErrorCode::kNoAudioStream)
          << count << " bytes of " << file.path << ": " << Describe(error);
    }
  }
}

TEST(DecoderRefusalTest, OnlyWholeNamesOfDecodersAreAllowed) {
  for (const char* name : {"pcm_s16le", "aac", "opus", "eac3"}) EXPECT_TRUE(IsAllowedDecoder(name)) << name;
  for (const char* name : {"", ",", "pcm_s16", "h264", "libopus", "ac", "c3"})
    EXPECT_FALSE(IsAllowedDecoder(name)) << name;
}

TEST(DecoderRefusalTest, ACodecThatIsNotAllowed) {
  // "A_TRUEHD" differs from "A_AAC" in length; the last letters of "A_FLAC" do not.
  ByteVector bytes = MediaNamed("matrix", "mkv-flac-mono-16000.mkv").bytes();
  const std::string_view from = "A_FLAC", to = "A_TTA1";
  const auto place = std::search(bytes.begin(), bytes.end(), from.begin(), from.end());
  ASSERT_NE(place, bytes.end());
  std::copy(to.begin(), to.end(), place);
  EXPECT_EQ(DecodeError(bytes), ErrorCode::kUnsupportedFormat);
}

}  // namespace
}  // namespace veravox::test
