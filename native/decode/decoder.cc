// SPDX-License-Identifier: Apache-2.0
#include "decode/decoder.h"

#include <cmath>
#include <string>
#include <utility>

#include "decode/audio_source.h"
#include "decode/container_sniffer.h"
#include "decode/demuxer.h"
#include "decode/file_packets.h"
#include "decode/file_tags.h"
#include "decode/joined_source.h"
#include "decode/libav_source.h"
#include "decode/mpeg_packets.h"
#include "decode/region_source.h"
#include "decode/spliced_source.h"
#include "decode/wave_packets.h"
#include "decode/wave_source.h"

namespace veravox {
namespace {

// Chunks are named by four bytes, which are letters in files that are not damaged.
std::string QuotedId(const std::string& id) {
  std::string text = "\"";
  for (const char letter : id) text += letter >= ' ' && letter <= '~' && letter != '"' ? letter : '?';
  return text + "\"";
}

[[noreturn]] void ThrowNoSamples(const WaveFile& file) {
  std::string found;
  for (const std::string& id : file.chunk_ids) found += (found.empty() ? "" : ", ") + QuotedId(id);
  const bool has_format = !file.formats.empty();
  throw StageError(ErrorCode::kUndecodable, std::string("The WAV file is incomplete: it has no ") +
                                                (has_format ? "samples, which belong into a \"data\" chunk."
                                                            : "\"fmt \" chunk in front of its samples.") +
                                                (found.empty() ? " It ends after its first 12 bytes."
                                                               : " Its chunks are " + found + "."));
}

// All parts of a WAV file that this program or libavformat can read.
std::unique_ptr<AudioSource> OpenWave(ByteSource& source, uint64_t begin, const DecodeOptions& options,
                                      const StopSignal& stop) {
  const WaveFile file = ReadWaveFile(source, begin);
  if (file.parts.empty()) ThrowNoSamples(file);
  if (file.formats[file.parts.front().format].coding) {
    return std::make_unique<WaveSource>(source, OnlyOwnCodings(file), options, stop);
  }
  return std::make_unique<LibavSource>(std::make_unique<WavePackets>(source, file, stop), options, stop);
}

std::unique_ptr<PacketSource> PacketsOf(ByteSource& source, const SniffedContainer& sniffed,
                                        const StopSignal& stop) {
  const auto& [container, offset] = sniffed;
  switch (container->tags) {
    case Container::Tags::kBetweenFrames:
      return std::make_unique<MpegPackets>(source, offset, *container, stop);
    case Container::Tags::kAtTheEnd: {
      const std::vector<ByteRange> ranges{{0, BeginOfLastTags(source, offset, container->zeros_in_frames)}};
      return std::make_unique<FilePackets>(
          std::make_unique<SplicedSource>(source, std::vector<uint8_t>(), ranges), offset, *container, stop);
    }
    case Container::Tags::kOwn:
      break;
  }
  return std::make_unique<Demuxer>(source, offset, *container, stop);
}

std::unique_ptr<AudioSource> OpenFile(ByteSource& source, const DecodeOptions& options,
                                      const StopSignal& stop) {
  stop.ThrowIfStopped();
  const SniffedContainer sniffed = SniffContainer(source);
  if (sniffed.container == nullptr) {
    throw StageError(ErrorCode::kUnsupportedFormat, "The file is not in any of the supported formats.");
  }
  if (sniffed.container == &WaveContainer()) return OpenWave(source, sniffed.offset, options, stop);
  return std::make_unique<LibavSource>(PacketsOf(source, sniffed, stop), options, stop);
}

std::unique_ptr<AudioSource> OpenAll(ByteSource& source, const DecodeOptions& options,
                                     const StopSignal& stop) {
  std::unique_ptr<AudioSource> first = OpenFile(source, options, stop);
  // Joins files and seeks by itself.
  if (first->container_name() == "wav") return first;
  return std::make_unique<JoinedSource>(
      source, std::move(first), [options, &stop](ByteSource& file) { return OpenFile(file, options, stop); });
}

std::unique_ptr<AudioSource> OpenSource(ByteSource& source, const DecodeOptions& options,
                                        const StopSignal& stop) {
  std::unique_ptr<AudioSource> whole = OpenAll(source, options, stop);
  if (options.region.is_all()) return whole;
  return std::make_unique<RegionSource>(std::move(whole), options.region);
}

}  // namespace

class Decoder::Impl {
 public:
  Impl(std::unique_ptr<AudioSource> source, const DecodeLimits& limits, const StopSignal& stop)
      : limits_(limits),
        stop_(stop),
        source_(std::move(source)),
        container_name_(source_->container_name()) {}

  bool Next(MonoBlock& block);
  void Transfer(SavedState& state);

  bool has_inverted_channels() const { return source_->has_inverted_channels(); }
  int64_t damaged_packets() const { return source_->damaged_packets(); }
  std::vector<Unheard> unheard() const { return source_->unheard(); }
  std::optional<StatedLength> stated_length() const { return source_->stated_length(); }
  bool is_waiting() const { return source_->is_waiting(); }
  double progress() const { return source_->progress(); }
  int channels() const { return source_->channels(); }
  const std::string& container_name() const { return container_name_; }
  std::string codec_name() const { return source_->codec_name(); }

 private:
  void CheckLimits(const MonoBlock& block);

  const DecodeLimits limits_;
  const StopSignal& stop_;
  const std::unique_ptr<AudioSource> source_;
  const std::string container_name_;
  // Counted in samples: a sum of seconds would drift past a limit that the audio just meets.
  int64_t samples_ = 0;
  int rate_hz_ = 0;
  double seconds_at_other_rates_ = 0.0;
  int64_t samples_at_other_rates_ = 0;
};

bool Decoder::Impl::Next(MonoBlock& block) {
  stop_.ThrowIfStopped();
  if (source_->Next(block)) {
    CheckLimits(block);
    return true;
  }
  if (rate_hz_ == 0 && !is_waiting()) {
    throw StageError(ErrorCode::kUndecodable, "The " + codec_name() + " stream in the " + container_name_ +
                                                  " file holds no decodable audio.");
  }
  return false;
}

void Decoder::Impl::CheckLimits(const MonoBlock& block) {
  if (block.sample_rate_hz < limits_.min_sample_rate_hz ||
      block.sample_rate_hz > limits_.max_sample_rate_hz) {
    throw StageError(ErrorCode::kSampleRateOutOfRange,
                     "The sample rate is " + std::to_string(block.sample_rate_hz) + " Hz; allowed are " +
                         std::to_string(limits_.min_sample_rate_hz) + " to " +
                         std::to_string(limits_.max_sample_rate_hz) + " Hz.");
  }
  if (block.samples.empty()) return;
  if (block.sample_rate_hz != rate_hz_) {
    if (rate_hz_ != 0) seconds_at_other_rates_ += static_cast<double>(samples_) / rate_hz_;
    samples_at_other_rates_ += samples_;
    rate_hz_ = block.sample_rate_hz;
    samples_ = 0;
  }
  samples_ += static_cast<int64_t>(block.samples.size());
  // Refuses a gap of years at its start.
  const auto samples = static_cast<double>(samples_ + block.silence_ahead);
  const double decoded_s = seconds_at_other_rates_ + samples / rate_hz_;
  if (decoded_s > limits_.max_duration_s) {
    throw StageError(
        ErrorCode::kTooLong,
        "The audio is longer than the allowed " + std::to_string(std::lround(limits_.max_duration_s)) + " s.",
        decoded_s);
  }
}

void Decoder::Impl::Transfer(SavedState& state) {
  state.Transfer(samples_);
  state.Transfer(rate_hz_);
  state.Transfer(seconds_at_other_rates_);
  state.Transfer(samples_at_other_rates_);
  if (!state.is_read()) return;
  state.RequireCount(samples_);
  state.RequireCount(samples_at_other_rates_);
  state.Require(rate_hz_ > 0 && seconds_at_other_rates_ >= 0.0);
  source_->Skip(samples_at_other_rates_ + samples_);
}

Decoder::Decoder(ByteSource& source, const DecodeOptions& options, const StopSignal& stop)
    : impl_(std::make_unique<Impl>(OpenSource(source, options, stop), options.limits, stop)) {}

Decoder::Decoder(std::span<const uint8_t> bytes, const DecodeOptions& options, const StopSignal& stop)
    : memory_(std::make_unique<MemorySource>(bytes)),
      impl_(std::make_unique<Impl>(OpenSource(*memory_, options, stop), options.limits, stop)) {}

Decoder::Decoder(std::unique_ptr<AudioSource> source, const DecodeLimits& limits, const StopSignal& stop)
    : impl_(std::make_unique<Impl>(std::move(source), limits, stop)) {}

Decoder::~Decoder() = default;

bool Decoder::Next(MonoBlock& block) { return impl_->Next(block); }
bool Decoder::is_waiting() const { return impl_->is_waiting(); }
void Decoder::Transfer(SavedState& state) { impl_->Transfer(state); }
bool Decoder::has_inverted_channels() const { return impl_->has_inverted_channels(); }
int64_t Decoder::damaged_packets() const { return impl_->damaged_packets(); }
std::vector<Unheard> Decoder::unheard() const { return impl_->unheard(); }
std::optional<StatedLength> Decoder::stated_length() const { return impl_->stated_length(); }
double Decoder::progress() const { return impl_->progress(); }
int Decoder::channels() const { return impl_->channels(); }
const std::string& Decoder::container_name() const { return impl_->container_name(); }
std::string Decoder::codec_name() const { return impl_->codec_name(); }

}  // namespace veravox
