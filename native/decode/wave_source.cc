// SPDX-License-Identifier: Apache-2.0
#include "decode/wave_source.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "decode/channel_polarity.h"
#include "decode/container_sniffer.h"

namespace veravox {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr size_t kBlockSamples = 16 * 1024;
// Bytes in which one search looks for the next file.
constexpr size_t kSearchBytes = 64 * 1024;
// Limit on false headers, since hostile files may hold many.
constexpr int kMostVainSearches = 100;

std::string_view CodecName(const WaveFormat& format) {
  const bool big = format.big_endian;
  switch (*format.coding) {
    case WaveCoding::kU8:
      return "pcm_u8";
    case WaveCoding::kS16:
      return big ? "pcm_s16be" : "pcm_s16le";
    case WaveCoding::kS24:
      return big ? "pcm_s24be" : "pcm_s24le";
    case WaveCoding::kS32:
      return big ? "pcm_s32be" : "pcm_s32le";
    case WaveCoding::kF32:
      return big ? "pcm_f32be" : "pcm_f32le";
    case WaveCoding::kF64:
      return big ? "pcm_f64be" : "pcm_f64le";
    case WaveCoding::kALaw:
      return "pcm_alaw";
    case WaveCoding::kMuLaw:
      return "pcm_mulaw";
  }
  return "";
}

std::pair<bool, std::vector<uint8_t>> KeyOf(const WaveFormat& format) {
  return {format.big_endian, format.chunk};
}

bool IsFloat(WaveCoding coding) { return coding == WaveCoding::kF32 || coding == WaveCoding::kF64; }

// The offset of the next file, if one begins in [from, end).
std::optional<size_t> FindFile(Bytes bytes, size_t from, size_t end) {
  struct Mark {
    std::string_view text;
    size_t at;  // in the file
  };
  constexpr Mark kMarks[] = {
      {"WAVE", 8}, {"AVI ", 8}, {"OggS", 0}, {"fLaC", 0}, {"ID3", 0}, {"ftyp", 4}, {"\x1a\x45\xdf\xa3", 0}};
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  size_t first = end;
  for (const Mark& mark : kMarks) {
    // A small file may begin soon, and the next search behind it.
    const std::string_view before = text.substr(0, first + mark.at + mark.text.size() - 1);
    size_t found = before.find(mark.text, from + mark.at);
    while (found != before.npos && !BeginsLikeFile(bytes.subspan(found - mark.at))) {
      found = before.find(mark.text, found + 1);
    }
    if (found != before.npos) first = found - mark.at;
  }
  if (first == end) return {};
  return first;
}

}  // namespace

WaveSource::WaveSource(ByteSource& source, WaveFile file, const DecodeOptions& options,
                       const StopSignal& stop)
    : source_(source),
      options_(options),
      stop_(stop),
      file_(std::move(file)),
      searches_left_(kMostVainSearches),
      mixer_(options.channel),
      channels_(file_.parts.empty() ? 0 : format().channels) {
  for (size_t i = 0; i < file_.formats.size(); ++i) format_indices_.emplace(KeyOf(file_.formats[i]), i);
  first_parts_.resize(file_.formats.size());
  for (size_t i = file_.parts.size(); i-- > 0;) {
    const size_t format = file_.parts[i].format;
    first_parts_[format] = i;
    CheckChannels(file_.formats[format].channels, options_.limits);
  }
}

std::string WaveSource::codec_name() const {
  return std::string(CodecName(file_.formats[file_.parts.front().format]));
}

double WaveSource::progress() const {
  if (part_ == file_.parts.size()) return 1.0;
  const WavePart& last = file_.parts.back();
  return static_cast<double>(part().begin + position_) / static_cast<double>(last.begin + last.bytes);
}

void WaveSource::EnterPart() {
  // The bytes of another file must not decide about the gain.
  while (IsFloat(*format().coding) && part().open_ended && searched_ < part().bytes) LookForFile();
  const WaveFormat& format = this->format();
  gains_.resize(file_.formats.size());
  std::optional<float>& gain = gains_[part().format];
  if (!gain && IsFloat(*format.coding)) {
    std::vector<ByteRange> ranges;
    for (size_t i = first_parts_[part().format]; i < file_.parts.size(); ++i) {
      const WavePart& other = file_.parts[i];
      if (other.format == part().format && !other.is_other_file) ranges.push_back({other.begin, other.bytes});
    }
    gain = FloatGain(source_, ranges, format);
  }
  samples_.emplace(*format.coding, format.big_endian, gain.value_or(1.0f));
  channels_ = format.channels;
  has_inverted_ = has_inverted_channels();
  mixer_ = MonoMixer(options_.channel);
  AVChannelLayout layout = {};
  layout.order = AV_CHANNEL_ORDER_UNSPEC;
  layout.nb_channels = format.channels;
  if (std::popcount(format.channel_mask) == format.channels) {
    layout.order = AV_CHANNEL_ORDER_NATIVE;
    layout.u.mask = format.channel_mask;
  }
  mixer_.SetInput(samples_->format(), layout);
}

// Streams are joined without a size in any header: the next file shows where a part ends. Looks for one in
// the next block; the part then ends there, and the next file's parts follow.
void WaveSource::LookForFile() {
  const uint64_t begin = searched_;
  const uint64_t offset = part().begin + begin;
  constexpr size_t kRun = ChannelPolarity::kRunSamples;
  const size_t run_bytes = kRun * format().frame_bytes;
  const size_t runs = std::clamp<size_t>(kSearchBytes / run_bytes, 1, kBlockSamples / kRun);
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(part().bytes - begin, runs * run_bytes));
  searched_ += wanted;
  for (size_t from = 0; searches_left_ > 0; --searches_left_) {
    stop_.ThrowIfStopped();
    const Bytes bytes = ReadInARow(source_, offset, wanted + kFileMarkBytes - 1, pieces_);
    const std::optional<size_t> found = FindFile(bytes, from, wanted);
    if (!found) return;
    if (IsWaveHeader(bytes.data() + *found)) {
      const WaveFile next = ReadWaveFile(source_, offset + *found);
      if (!next.parts.empty()) return Append(OnlyOwnCodings(next), begin + *found);
    } else if (!has_other_file_) {
      return NoteOtherFile(begin + *found);
    }
    from = *found + 1;
  }
}

// Players take it for samples: it is heard as such, in a part of its own.
void WaveSource::NoteOtherFile(uint64_t bytes_here) {
  has_other_file_ = true;
  WavePart& ended = file_.parts[part_];
  WavePart rest = ended;
  const uint64_t passed = bytes_here - bytes_here % format().frame_bytes;
  rest.begin += passed;
  rest.bytes -= passed;
  rest.is_other_file = true;
  ended.missing_bytes = 0;
  WaveFile other{.formats = {format()}, .parts = {rest}, .gaps = {}, .chunk_ids = {}};
  other.parts.front().format = 0;
  other.gaps.push_back({0, source_.size() - ended.begin - bytes_here,
                        "a file of another format, which was heard as samples of the WAV file"});
  Append(std::move(other), bytes_here);
}

void WaveSource::Append(WaveFile next, uint64_t bytes_here) {
  WavePart& ended = file_.parts[part_];
  ended.open_ended = false;
  if (ended.missing_bytes > 0) ended.missing_bytes += ended.bytes - bytes_here;
  ended.bytes = bytes_here - bytes_here % format().frame_bytes;

  const size_t parts_before = file_.parts.size();
  for (WavePart& more : next.parts) {
    const WaveFormat& own = next.formats[more.format];
    CheckChannels(own.channels, options_.limits);
    const auto [known, is_new] = format_indices_.emplace(KeyOf(own), file_.formats.size());
    more.format = known->second;
    if (is_new) {
      file_.formats.push_back(own);
      first_parts_.push_back(file_.parts.size());
    }
    file_.parts.push_back(more);
  }
  for (WaveGap& gap : next.gaps) {
    gap.parts_before += parts_before;
    file_.gaps.push_back(std::move(gap));
  }
}

bool WaveSource::Next(MonoBlock& block) {
  for (;; LeavePart()) {
    stop_.ThrowIfStopped();
    if (part_ == file_.parts.size()) return false;
    if (part().open_ended && position_ < part().bytes && position_ >= searched_) LookForFile();
    if (position_ < part().bytes) break;
  }
  const uint64_t begin = position_;
  MixUntil(part().open_ended ? searched_ : part().bytes);
  block = {mono_, format().sample_rate_hz, static_cast<double>(position_ - begin) * 8.0};
  return true;
}

void WaveSource::LeavePart() {
  ++part_;
  position_ = mix_begin_ = searched_ = 0;
  samples_.reset();
}

// Mixes the next samples of the part, up to `end`, into mono_.
void WaveSource::MixUntil(uint64_t end) {
  if (!samples_) EnterPart();
  const size_t frame_bytes = format().frame_bytes;
  const uint64_t offset = part().begin + position_;
  // Ends with a run of the mixer, wherever it began.
  const uint64_t block_bytes = kBlockSamples * frame_bytes;
  const uint64_t block_left = block_bytes - (position_ - mix_begin_) % block_bytes;
  Bytes bytes = source_.Read(offset, static_cast<size_t>(std::min<uint64_t>(end - position_, block_left)));
  // A frame may span two of the source's pieces.
  if (bytes.size() < frame_bytes) bytes = ReadInARow(source_, offset, frame_bytes, pieces_);
  mono_.resize(bytes.size() / frame_bytes);
  const auto channels = static_cast<size_t>(channels_);
  mixer_.MixInterleaved(samples_->Convert(bytes.data(), mono_.size() * channels), mono_);
  position_ += mono_.size() * frame_bytes;
}

// Skips up to this many samples, but does not enter a part of unknown size. Returns the samples left to skip.
int64_t WaveSource::Pass(int64_t samples) {
  for (; part_ < file_.parts.size() && !part().open_ended; LeavePart()) {
    const uint64_t left = (part().bytes - position_) / format().frame_bytes;
    const uint64_t passed = std::min(left, static_cast<uint64_t>(samples));
    position_ += passed * format().frame_bytes;
    samples -= static_cast<int64_t>(passed);
    if (samples == 0) break;
  }
  return samples;
}

void WaveSource::Skip(int64_t samples) {
  samples = Pass(samples);
  // A header may be in the way.
  if (samples > 0) return AudioSource::Skip(samples);
  if (part_ == file_.parts.size() || format().channels == 1) return;
  // The mix depends on the audio just before.
  const uint64_t end = position_;
  const auto mixed = static_cast<int64_t>((end - mix_begin_) / format().frame_bytes);
  position_ = mix_begin_ + static_cast<uint64_t>(ChannelPolarity::FirstHeard(mixed)) * format().frame_bytes;
  samples_.reset();
  while (position_ < end) MixUntil(end);
}

AudioPosition WaveSource::Seek(double start_s) {
  const int rate_hz = format().sample_rate_hz;
  for (const WavePart& part : file_.parts) {
    if (part.open_ended || file_.formats[part.format].sample_rate_hz != rate_hz) return {};
  }
  Pass(SamplesUntil(start_s, rate_hz));
  mix_begin_ = position_;
  int64_t passed = 0;
  for (size_t i = 0; i <= part_ && i < file_.parts.size(); ++i) {
    const uint64_t bytes = i == part_ ? position_ : file_.parts[i].bytes;
    passed += static_cast<int64_t>(bytes / file_.formats[file_.parts[i].format].frame_bytes);
  }
  return {passed, rate_hz};
}

}  // namespace veravox
