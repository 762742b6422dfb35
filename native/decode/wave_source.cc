// SPDX-License-Identifier: Apache-2.0
#include "decode/wave_source.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>
#include <optional>
#include <string_view>

namespace veravox {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr size_t kBlockSamples = 16 * 1024;
constexpr size_t kChunkHeaderBytes = 8;
constexpr uint32_t kSizeUnknown = 0xffffffff;  // written by streams, and by RF64 in front of the real size

template <typename T>
T ReadAt(Bytes bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

size_t SampleBytes(SampleFormat format) {
  switch (format) {
    case SampleFormat::kU8:
      return 1;
    case SampleFormat::kS16:
      return 2;
    case SampleFormat::kS24:
      return 3;
    case SampleFormat::kS32:
    case SampleFormat::kF32:
      return 4;
    case SampleFormat::kF64:
      return 8;
  }
  return 0;
}

std::optional<SampleFormat> FormatOf(uint16_t tag, uint16_t bits) {
  constexpr uint16_t kPcm = 1, kFloat = 3;
  if (tag == kPcm && bits == 8) return SampleFormat::kU8;
  if (tag == kPcm && bits == 16) return SampleFormat::kS16;
  if (tag == kPcm && bits == 24) return SampleFormat::kS24;
  if (tag == kPcm && bits == 32) return SampleFormat::kS32;
  if (tag == kFloat && bits == 32) return SampleFormat::kF32;
  if (tag == kFloat && bits == 64) return SampleFormat::kF64;
  return std::nullopt;
}

// The body of a "fmt " chunk: WAVEFORMAT, WAVEFORMATEX or WAVEFORMATEXTENSIBLE
// (https://learn.microsoft.com/windows/win32/api/mmreg/ns-mmreg-waveformatextensible).
bool ParseFormat(Bytes chunk, WaveFile& wave) {
  constexpr uint16_t kExtensible = 0xfffe;
  constexpr size_t kPlainBytes = 16, kWithSizeBytes = 18, kExtensibleBytes = 40;
  constexpr std::string_view kGuidTail("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);
  if (chunk.size() < kPlainBytes) return false;

  uint16_t tag = ReadAt<uint16_t>(chunk, 0);
  const auto bits = ReadAt<uint16_t>(chunk, 14);
  if (tag == kExtensible) {
    if (chunk.size() < kExtensibleBytes || ReadAt<uint16_t>(chunk, 18) != bits ||
        std::memcmp(chunk.data() + 26, kGuidTail.data(), kGuidTail.size()) != 0) {
      return false;
    }
    tag = ReadAt<uint16_t>(chunk, 24);
    wave.channel_mask = ReadAt<uint32_t>(chunk, 20);
  } else if (chunk.size() > kWithSizeBytes) {
    return false;  // extra data may change the meaning of the samples
  }
  const auto format = FormatOf(tag, bits);
  const auto rate_hz = ReadAt<uint32_t>(chunk, 4);
  wave.channels = ReadAt<uint16_t>(chunk, 2);
  const size_t frame_bytes = ReadAt<uint16_t>(chunk, 12);
  if (!format || wave.channels == 0 || rate_hz == 0 || rate_hz > INT_MAX ||
      frame_bytes != SampleBytes(*format) * static_cast<size_t>(wave.channels)) {
    return false;
  }
  wave.format = *format;
  wave.sample_rate_hz = static_cast<int>(rate_hz);
  return true;
}

}  // namespace

bool ParseWaveFile(Bytes bytes, WaveFile& wave) {
  constexpr size_t kFirstChunk = 12;
  if (bytes.size() < kFirstChunk || std::memcmp(bytes.data() + 8, "WAVE", 4) != 0) return false;
  const bool rf64 = std::memcmp(bytes.data(), "RF64", 4) == 0 || std::memcmp(bytes.data(), "BW64", 4) == 0;
  if (!rf64 && std::memcmp(bytes.data(), "RIFF", 4) != 0) return false;

  bool has_format = false;
  bool has_data = false;
  uint64_t rf64_data_bytes = 0;
  size_t offset = kFirstChunk;
  while (bytes.size() - offset >= kChunkHeaderBytes) {
    const Bytes id = bytes.subspan(offset, 4);
    const auto is = [&](const char* name) { return std::memcmp(id.data(), name, 4) == 0; };
    uint64_t stated = ReadAt<uint32_t>(bytes, offset + 4);
    offset += kChunkHeaderBytes;
    const size_t left = bytes.size() - offset;

    if (is("data")) {
      if (!has_format || has_data) return false;
      has_data = true;
      if (rf64) stated = rf64_data_bytes;
      const bool until_end = !rf64 && (stated == 0 || stated == kSizeUnknown);
      if (until_end) stated = left;
      wave.truncated = stated > left;
      wave.samples = bytes.subspan(offset, static_cast<size_t>(std::min<uint64_t>(stated, left)));
    } else if (is("fmt ")) {
      if (has_format || stated > left || !ParseFormat(bytes.subspan(offset, stated), wave)) return false;
      has_format = true;
    } else if (is("ds64") && stated >= 16 && left >= 16) {
      rf64_data_bytes = ReadAt<uint64_t>(bytes, offset + 8);
    }
    const uint64_t padded = stated + (stated & 1);
    if (padded > left) break;
    offset += static_cast<size_t>(padded);
  }
  if (!has_data) return false;
  const size_t frame_bytes = SampleBytes(wave.format) * static_cast<size_t>(wave.channels);
  wave.samples = wave.samples.first(wave.samples.size() / frame_bytes * frame_bytes);
  return true;
}

WaveSource::WaveSource(const WaveFile& wave, const DecodeLimits& limits)
    : wave_(wave), total_bytes_(wave.samples.size()) {
  CheckChannels(wave.channels, limits);
  AVChannelLayout layout = {};
  layout.order = AV_CHANNEL_ORDER_UNSPEC;
  layout.nb_channels = wave.channels;
  if (std::popcount(wave.channel_mask) == wave.channels) {
    layout.order = AV_CHANNEL_ORDER_NATIVE;
    layout.u.mask = wave.channel_mask;
  }
  mixer_.SetInput(wave.format, layout);
}

std::string WaveSource::codec_name() const {
  switch (wave_.format) {
    case SampleFormat::kU8:
      return "pcm_u8";
    case SampleFormat::kS16:
      return "pcm_s16le";
    case SampleFormat::kS24:
      return "pcm_s24le";
    case SampleFormat::kS32:
      return "pcm_s32le";
    case SampleFormat::kF32:
      return "pcm_f32le";
    case SampleFormat::kF64:
      return "pcm_f64le";
  }
  return "";
}

double WaveSource::progress() const {
  if (total_bytes_ == 0) return 1.0;
  return 1.0 - static_cast<double>(wave_.samples.size()) / static_cast<double>(total_bytes_);
}

bool WaveSource::Next(MonoBlock& block) {
  const size_t frame_bytes = SampleBytes(wave_.format) * static_cast<size_t>(wave_.channels);
  const size_t count = std::min(wave_.samples.size() / frame_bytes, kBlockSamples);
  if (count == 0) {
    ended_ = true;
    return false;
  }
  mono_.resize(count);
  mixer_.MixInterleaved(wave_.samples.data(), mono_);
  wave_.samples = wave_.samples.subspan(count * frame_bytes);
  block = {mono_, wave_.sample_rate_hz};
  return true;
}

}  // namespace veravox
