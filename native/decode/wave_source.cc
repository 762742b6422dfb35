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

bool ParseWaveFile(ByteSource& source, uint64_t begin, WaveFile& wave) {
  constexpr size_t kFirstChunk = 12;
  constexpr size_t kMostOfFormat = 64;
  constexpr int kMaxChunks = 10'000;
  std::vector<uint8_t> pieces;
  const Bytes riff = ReadInARow(source, begin, kFirstChunk, pieces);
  if (riff.size() < kFirstChunk || std::memcmp(riff.data() + 8, "WAVE", 4) != 0) return false;
  const bool rf64 = std::memcmp(riff.data(), "RF64", 4) == 0 || std::memcmp(riff.data(), "BW64", 4) == 0;
  if (!rf64 && std::memcmp(riff.data(), "RIFF", 4) != 0) return false;

  bool has_format = false;
  bool has_data = false;
  uint64_t rf64_data_bytes = 0;
  uint64_t offset = begin + kFirstChunk;
  for (int chunks = 0; source.size() - offset >= kChunkHeaderBytes; ++chunks) {
    if (chunks == kMaxChunks) return false;
    const Bytes header = ReadInARow(source, offset, kChunkHeaderBytes, pieces);
    uint64_t stated = ReadAt<uint32_t>(header, 4);
    const std::string id(header.begin(), header.begin() + 4);
    offset += kChunkHeaderBytes;
    const uint64_t left = source.size() - offset;

    if (id == "data") {
      if (!has_format || has_data) return false;
      has_data = true;
      if (rf64) stated = rf64_data_bytes;
      const bool until_end = !rf64 && (stated == 0 || stated == kSizeUnknown);
      if (until_end) stated = left;
      wave.truncated = stated > left;
      wave.begin = offset;
      wave.bytes = std::min(stated, left);
    } else if (id == "fmt ") {
      if (has_format || stated > left || stated > kMostOfFormat) return false;
      if (!ParseFormat(ReadInARow(source, offset, static_cast<size_t>(stated), pieces), wave)) return false;
      has_format = true;
    } else if (id == "ds64" && stated >= 16 && left >= 16) {
      rf64_data_bytes = ReadAt<uint64_t>(ReadInARow(source, offset, 16, pieces), 8);
    }
    const uint64_t padded = stated + (stated & 1);
    if (padded > left) break;
    offset += padded;
  }
  if (!has_data) return false;
  wave.bytes -= wave.bytes % (SampleBytes(wave.format) * static_cast<size_t>(wave.channels));
  return true;
}

WaveSource::WaveSource(ByteSource& source, const WaveFile& wave, const DecodeOptions& options)
    : source_(source),
      wave_(wave),
      frame_bytes_(SampleBytes(wave.format) * static_cast<size_t>(wave.channels)),
      mixer_(options.channel) {
  CheckChannels(wave.channels, options.limits);
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
  if (wave_.bytes == 0) return 1.0;
  return static_cast<double>(position_) / static_cast<double>(wave_.bytes);
}

bool WaveSource::Next(MonoBlock& block) {
  if (position_ == wave_.bytes) {
    ended_ = true;
    return false;
  }
  MixUntil(wave_.bytes);
  block = {mono_, wave_.sample_rate_hz};
  return true;
}

// The next samples, none of them after `end`, into mono_.
void WaveSource::MixUntil(uint64_t end) {
  const uint64_t offset = wave_.begin + position_;
  // Ends where a run of the mixer does, whatever it began with.
  const uint64_t block_bytes = kBlockSamples * frame_bytes_;
  const uint64_t block_left = block_bytes - (position_ - mix_begin_) % block_bytes;
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(end - position_, block_left));
  Bytes bytes = source_.Read(offset, wanted);
  // A frame may lie in two of the source's pieces.
  if (bytes.size() < frame_bytes_) bytes = ReadInARow(source_, offset, frame_bytes_, pieces_);
  mono_.resize(bytes.size() / frame_bytes_);
  mixer_.MixInterleaved(bytes.data(), mono_);
  position_ += mono_.size() * frame_bytes_;
}

void WaveSource::Skip(int64_t samples) {
  const uint64_t begin = position_;
  const int64_t skipped = std::min(samples, static_cast<int64_t>((wave_.bytes - begin) / frame_bytes_));
  const uint64_t end = begin + static_cast<uint64_t>(skipped) * frame_bytes_;
  position_ = end;
  if (wave_.channels == 1) return;
  // The mix depends on what comes shortly before.
  position_ = begin + static_cast<uint64_t>(ChannelPolarity::FirstHeard(skipped)) * frame_bytes_;
  while (position_ < end) MixUntil(end);
}

AudioPosition WaveSource::Seek(double start_s) {
  const int64_t start = SamplesUntil(start_s, wave_.sample_rate_hz);
  const uint64_t samples = wave_.bytes / frame_bytes_;
  position_ = mix_begin_ = std::min(samples, static_cast<uint64_t>(start)) * frame_bytes_;
  return {static_cast<int64_t>(position_ / frame_bytes_), wave_.sample_rate_hz};
}

}  // namespace veravox
