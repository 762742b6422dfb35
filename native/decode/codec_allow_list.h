// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace veravox {

// libavcodec's decoders that may be opened, in the form of its `codec_whitelist` option. All are FFmpeg's
// own; wrappers of external libraries are left out, as are all video, subtitle and experimental decoders.
inline constexpr char kAllowedDecoders[] =
    "pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_u8,pcm_s8,"
    "pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be,pcm_alaw,pcm_mulaw,"
    "adpcm_ima_wav,adpcm_ima_qt,adpcm_ms,"
    "gsm_ms,"  // telephone recordings in WAV
    "mp3float,mp3,mp2float,mp2,"
    "aac,alac,flac,vorbis,opus,ac3,eac3";

inline bool IsAllowedDecoder(std::string_view name) {
  std::string_view rest = kAllowedDecoders;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    if (rest.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) return false;
    rest.remove_prefix(comma + 1);
  }
  return false;
}

// Codecs that change the sound, by libavcodec's names; keep src/base/addon/addon.ts in step.
inline constexpr std::string_view kLossyCodecs[] = {
    "aac", "ac3", "adpcm_ima_qt", "adpcm_ima_wav", "adpcm_ms",  "eac3",   "gsm_ms",
    "mp2", "mp3", "opus",         "pcm_alaw",      "pcm_mulaw", "vorbis",
};

// The lossy codec with this name, as a string that is never freed; empty for all others.
inline std::string_view LossyCodec(std::string_view name) {
  for (const std::string_view codec : kLossyCodecs) {
    if (codec == name) return codec;
  }
  return {};
}

}  // namespace veravox
