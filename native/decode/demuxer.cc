// SPDX-License-Identifier: Apache-2.0
#include "decode/demuxer.h"

extern "C" {
#include <libavutil/parseutils.h>
}

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "decode/codec_allow_list.h"
#include "decode/file_tags.h"
#include "decode/mov_boxes.h"
#include "decode/mpeg_sync.h"

namespace veravox {
namespace {

// How far libavformat may look ahead if the header lacks rate and channels.
constexpr int64_t kProbeBytes = 64 * 1024;
constexpr int64_t kProbeDurationUs = 1'000'000;
constexpr int64_t kMaxStreams = 64;

// Most searches for another file; each reads part of it.
constexpr int kMaxLooks = 50;
// Most attempts to go on from one place: more than the packets of an Ogg page.
constexpr int kMaxTries = 300;

// Refuses to open the further files that a file names (references, playlists, network streams).
int RefuseNestedOpen(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
  return AVERROR(EPERM);
}

bool IsPadding(const AVPacket& packet) {
  return std::all_of(packet.data, packet.data + packet.size, IsMpegPadding);
}

// Edits also leave out delays of encoders, and what lasts longer than the video.
constexpr double kMostLeftOutS = 1.0;

// Whether players start the recording at this stream's start if it is the earliest.
bool HasOwnTime(const AVStream& stream) {
  const AVMediaType type = stream.codecpar->codec_type;
  return (type == AVMEDIA_TYPE_AUDIO || type == AVMEDIA_TYPE_VIDEO) &&
         (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) == 0;
}

// In old MOV files, such codecs have a sample per tick instead of one per packet.
bool CountsSamples(AVCodecID codec) {
  constexpr AVCodecID kCodecs[] = {AV_CODEC_ID_ADPCM_IMA_QT, AV_CODEC_ID_ADPCM_IMA_WAV, AV_CODEC_ID_ADPCM_MS,
                                   AV_CODEC_ID_GSM_MS,       AV_CODEC_ID_MP2,           AV_CODEC_ID_MP3};
  return std::ranges::find(kCodecs, codec) != std::end(kCodecs);
}

// Containers of bare frames, which end where the frames end.
bool IsBare(const Container& container) { return container.tags != Container::Tags::kOwn; }

bool IsAdts(const Container& container) { return container.name == std::string_view("aac"); }
bool IsAvi(const Container& container) { return container.name == std::string_view("avi"); }

// ISO/IEC 11172-3, section 2.4.2.3: a syncword and a layer.
bool BeginsLikeMpegFrame(std::span<const uint8_t> bytes) {
  return bytes.size() > 1 && bytes[0] == 0xff && (bytes[1] & 0xe0) == 0xe0 && (bytes[1] & 0x06) != 0;
}

// The length of the first audio stream in its header ("strh"), which libavformat corrects if no index
// follows.
std::optional<double> StatedAviEnd(ByteSource& source, uint64_t begin) {
  constexpr size_t kLookBytes = 64 * 1024;
  constexpr size_t kHeaderBytes = 44;
  // Of programs that write to a pipe.
  constexpr double kUnknownLength = 0x40000000;
  std::vector<uint8_t> pieces;
  const auto bytes = ReadInARow(source, begin, kLookBytes, pieces);
  const auto word = [](const uint8_t* at) {
    uint32_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  };
  for (size_t i = 0; i + kHeaderBytes <= bytes.size(); ++i) {
    if (std::memcmp(&bytes[i], "strh", 4) != 0 || std::memcmp(&bytes[i + 8], "auds", 4) != 0) continue;
    const double scale = word(&bytes[i + 28]), rate = word(&bytes[i + 32]), length = word(&bytes[i + 40]);
    const bool is_stated = scale > 0 && rate > 0 && length > 0 && length < kUnknownLength;
    if (is_stated) return length * scale / rate;
    break;
  }
  return {};
}

double Seconds(int64_t time, AVRational base) { return static_cast<double>(time) * av_q2d(base); }

int IsStopped(void* stop) { return static_cast<const StopSignal*>(stop)->stopped() ? 1 : 0; }

}  // namespace

Demuxer::Demuxer(ByteSource& source, uint64_t begin, const Container& container, const StopSignal& stop)
    : stop_(stop),
      container_(container),
      source_(source),
      begin_(begin),
      size_(source.size()),
      input_(source, begin, container, stop),
      looks_left_(kMaxLooks),
      tries_left_(kMaxTries) {
  SetUpLibavOnce();
  if (container.name == std::string_view("matroska")) matroska_damage_.emplace(source, begin);
  Open();
  SelectFirstAudioStream();
  FindParameters();
}

void Demuxer::Open() {
  const AVInputFormat* demuxer = av_find_input_format(container_.demuxer);
  if (demuxer == nullptr) {
    throw StageError(ErrorCode::kUnsupportedFormat,
                     std::string("This build of FFmpeg cannot read ") + container_.name + " files.");
  }
  AVFormatContext* format = avformat_alloc_context();
  if (format == nullptr) throw StageError(ErrorCode::kInternal, "Out of memory for the demuxer.");
  format->pb = input_.io();
  // Keeps libavformat from seeks: to the end of Ogg for the duration, which is that of the last link only,
  // and forth and back from each byte in front of the first frame of MP3, with 8 KiB read anew each time.
  const std::string_view name = container_.name;
  if (name == "ogg" || name == "mp3") format->pb->seekable = 0;
  format->io_open = RefuseNestedOpen;
  format->interrupt_callback = {IsStopped, const_cast<StopSignal*>(&stop_)};

  Options options;
  // Also applies to anything that a demuxer opens internally.
  options.Set("format_whitelist", demuxer->name);
  options.Set("codec_whitelist", kAllowedDecoders);
  options.Set("probesize", kProbeBytes);
  options.Set("analyzeduration", kProbeDurationUs);
  options.Set("max_streams", kMaxStreams);
  const int error = avformat_open_input(&format, nullptr, demuxer, options.address());
  if (error < 0) ThrowUnreadable(error);  // libav has freed `format`
  format_.reset(format);
  input_.ThrowIfFailed();
}

void Demuxer::SelectFirstAudioStream() {
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    AVStream& stream = *format_->streams[i];
    if (stream_index_ < 0 && stream.codecpar->codec_type == AVMEDIA_TYPE_AUDIO) {
      stream_index_ = static_cast<int>(i);
    } else if (!HasOwnTime(stream)) {
      stream.discard = AVDISCARD_ALL;  // most demuxers then skip its data unread
    }
  }
  if (stream_index_ < 0) {
    ThrowIfIndexIsMissing();
    throw StageError(ErrorCode::kNoAudioStream,
                     std::string("The ") + container_.name + " file has no audio stream.");
  }
}

void Demuxer::FindParameters() {
  // Matroska states the rate that an Opus encoder was fed with, but counts the samples to cut off the end at
  // the one rate of Opus decoders.
  constexpr int kOpusRateHz = 48000;
  const AVCodecParameters& parameters = *stream().codecpar;
  if (parameters.codec_id == AV_CODEC_ID_NONE) ThrowIfIndexIsMissing();
  const bool opus_at_another_rate =
      parameters.codec_id == AV_CODEC_ID_OPUS && parameters.sample_rate != kOpusRateHz;
  if (!container_.parameters_in_frames && !opus_at_another_rate) return;
  const int error = avformat_find_stream_info(format_.get(), nullptr);
  if (error < 0) ThrowUnreadable(error);
  input_.ThrowIfFailed();
  // Lets the AAC demuxer search the whole file for the next frame behind junk.
  format_->probesize = std::numeric_limits<int64_t>::max();
}

void Demuxer::ThrowUnreadable(int error) const {
  stop_.ThrowIfStopped();  // the input reports a stop as a read error
  input_.ThrowIfFailed();
  ThrowIfIndexIsMissing();
  const bool is_at_end = input_.progress() >= 1.0;
  throw StageError(
      ErrorCode::kUndecodable,
      std::string("The file looks like ") + container_.name +
          (is_at_end
               ? ", but ends before any audio that can be read. The recording ended too early, the upload "
                 "was cut off, or the file is damaged."
               : ", but its beginning cannot be read: " + LibavErrorText(error) + "."));
}

void Demuxer::ThrowIfIndexIsMissing() const {
  if (container_.name != std::string_view("mov")) return;
  const std::string missing = MissingMovIndex(source_, begin_);
  if (!missing.empty()) throw StageError(ErrorCode::kUndecodable, missing);
}

bool Demuxer::Next(AVPacket& packet) {
  for (int64_t first_failure = -1;;) {
    stop_.ThrowIfStopped();
    av_packet_unref(&packet);
    const int error = av_read_frame(format_.get(), &packet);
    input_.ThrowIfFailed();
    if (error == AVERROR(EAGAIN)) continue;
    if (error < 0) {
      stop_.ThrowIfStopped();  // the input reports a stop as a read error
      // Of ADTS, fewer bytes are left than a frame's header has.
      const bool is_end = error == AVERROR_EOF || (IsAdts(container_) && error == AVERROR(EIO));
      const int64_t offset = avio_tell(format_->pb);
      if (!is_end && first_failure < 0) first_failure = offset;
      if (!is_end && MayGoOn(offset)) continue;
      has_ended_ = true;
      NoteFileEnd();
      const uint64_t end = file_end_.value_or(size_);
      NoteDamageBefore(end);
      const auto at = [&](int64_t place) { return begin_ + static_cast<uint64_t>(place); };
      if (!is_end && at(offset) < end) damaged_bytes_ += end - at(offset);
      // The beginning of another file is no damage.
      const bool has_failed = first_failure >= 0 && (!file_end_ || at(first_failure) < end);
      if (has_failed) ++failures_;
      return false;
    }
    if (Take(packet)) {
      if (first_failure >= 0) ++failures_;
      failed_at_ = -1;
      return true;
    }
    if (file_end_) return false;
  }
}

// Behind an error libavformat goes on where it stopped, unless it fails there again and again.
bool Demuxer::MayGoOn(int64_t offset) {
  if (offset > failed_at_) {
    failed_at_ = offset;
    tries_left_ = kMaxTries;
  }
  return --tries_left_ > 0;
}

// Whether it is a packet to decode.
bool Demuxer::Take(AVPacket& packet) {
  if (container_.parameters_in_frames && packet.stream_index == stream_index_ && IsPadding(packet)) {
    return false;
  }
  if (!has_begun_) NoteStart(packet);
  if (packet.stream_index != stream_index_) {
    const auto index = static_cast<size_t>(packet.stream_index);
    CountOther(index, packet.size);
    return false;
  }
  if (IsBare(container_)) EndBeforeOtherFile(packet);
  if (packet.pos >= 0) {
    packets_end_ = std::max(packets_end_, begin_ + static_cast<uint64_t>(packet.pos + packet.size));
    NoteDamageBefore(begin_ + static_cast<uint64_t>(packet.pos));
  }
  if (file_end_ && packet.size == 0) return false;
  NoteEnd(packet);
  // Fragments with time stamps of earlier ones are heard like any others.
  if (stream().nb_frames == 0) packet.flags &= ~AV_PKT_FLAG_DISCARD;
  // Made up by libavformat: from the rate of the first frame, which may change, or from the number of chunks.
  if (IsAdts(container_) || IsAvi(container_)) packet.pts = packet.dts = AV_NOPTS_VALUE;
  return true;
}

// Of another audio stream. Its packets may name the same bytes again and again.
void Demuxer::CountOther(size_t index, int bytes) {
  if (other_bytes_.size() <= index) other_bytes_.resize(index + 1);
  const auto most = static_cast<int64_t>(size_ - begin_);
  other_bytes_[index] = std::min(other_bytes_[index] + bytes, most);
  if (other_bytes_[index] == most) format_->streams[index]->discard = AVDISCARD_ALL;
}

// Reads only the first packet of each stream that comes before the audio.
void Demuxer::NoteStart(const AVPacket& packet) {
  const int64_t stamp = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  const auto index = static_cast<unsigned>(packet.stream_index);
  has_begun_ = packet.stream_index == stream_index_;
  if (!has_begun_ && stamp != AV_NOPTS_VALUE && HasOwnTime(*format_->streams[index])) {
    origin_s_ = std::min(origin_s_, Seconds(stamp, format_->streams[index]->time_base));
  }
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    AVStream& stream = *format_->streams[i];
    // Other audio is kept, to be counted.
    const bool is_done = has_begun_ || i == index;
    if (is_done && stream.codecpar->codec_type != AVMEDIA_TYPE_AUDIO) stream.discard = AVDISCARD_ALL;
  }
}

void Demuxer::NoteEnd(const AVPacket& packet) {
  bytes_ += packet.size;
  if (packet.pts == AV_NOPTS_VALUE) return;
  const double stamp_s = Seconds(packet.pts, time_base());
  double duration_s = Seconds(packet.duration, time_base());
  if (packet.duration == 0) duration_s = std::max(stamp_s - last_stamp_s_, 0.0);
  last_stamp_s_ = stamp_s;
  packets_s_ += duration_s;
  end_s_ = std::max(end_s_, stamp_s + duration_s);
}

// Audio outside of the edits of a MOV file, or in a second format, for which libavformat has no packets.
std::optional<Unheard> Demuxer::LeftOut() const {
  AVStream& audio = *format_->streams[stream_index_];
  if (container_.name != std::string_view("mov") || !has_ended_ || bytes_ == 0) return {};
  const int packets = avformat_index_get_entries_count(&audio);
  double bytes = 0.0;  // of all packets, including the missing ones of a cut file
  for (int i = 0; i < packets; ++i) bytes += avformat_index_get_entry(&audio, i)->size;
  const int bits = av_get_exact_bits_per_sample(parameters().codec_id) * parameters().ch_layout.nb_channels;
  if (CountsSamples(parameters().codec_id) && audio.duration <= audio.nb_frames) return {};
  const double frames = bits > 0 ? bytes * 8 / bits : packets;
  const double left_out_bytes = bytes * (static_cast<double>(audio.nb_frames) / frames - 1.0);
  const bool is_short = left_out_bytes / static_cast<double>(bytes_) * packets_s_ <= kMostLeftOutS;
  if (frames == 0.0 || is_short) return {};
  const auto most = static_cast<double>(size_ - begin_);
  return Unheard{std::llround(std::min(left_out_bytes, most)), end_s_,
                 "which the edits of the file leave out"};
}

// libavformat treats bytes between frames as part of a frame, or skips them.
void Demuxer::EndBeforeOtherFile(AVPacket& packet) {
  if (packet.pos < 0) return;
  const std::span<const uint8_t> bytes(packet.data, static_cast<size_t>(packet.size));
  uint64_t begin = begin_ + static_cast<uint64_t>(packet.pos);
  // The parser of FLAC states places that are slightly off.
  if (next_offset_ > 0 && IsAt(next_offset_, bytes)) begin = next_offset_;
  const bool is_mpeg = container_.tags == Container::Tags::kBetweenFrames;
  if (next_offset_ > 0 && begin > next_offset_ && IsOtherFile(next_offset_)) {
    file_end_ = next_offset_;
  } else if (is_mpeg && !BeginsLikeMpegFrame(bytes) && IsOtherFile(begin)) {
    file_end_ = begin;
  }
  if (file_end_) return av_shrink_packet(&packet, 0);
  for (size_t i = begin == begin_ ? 1 : 0; i < bytes.size(); ++i) {
    const bool is_likely =
        BeginsLikeFile(bytes.subspan(i)) ||
        (!is_mpeg && bytes[i] == 0xff && MayBeginMpegAudio(bytes.subspan(i)) && HasMpegAudioAt(begin + i));
    if (!is_likely || !IsOtherFile(begin + i)) continue;
    file_end_ = begin + i;
    return av_shrink_packet(&packet, static_cast<int>(i));
  }
  next_offset_ = begin + bytes.size();
}

bool Demuxer::IsAt(uint64_t offset, std::span<const uint8_t> bytes) {
  constexpr size_t kComparedBytes = 64;
  bytes = bytes.first(std::min(bytes.size(), kComparedBytes));
  return std::ranges::equal(ReadInARow(source_, offset, bytes.size(), pieces_), bytes);
}

bool Demuxer::HasMpegAudioAt(uint64_t offset) {
  return BeginsLikeMpegAudio(ReadInARow(source_, offset, kMpegBeginBytes, pieces_));
}

// MPEG streams continue behind damage, and behind tags, which are zeros here.
bool Demuxer::IsOtherFile(uint64_t offset) {
  if (--looks_left_ < 0) return false;
  TailSource rest(source_, offset);
  const SniffedContainer found = SniffContainer(rest);
  if (found.container == nullptr) return false;
  if (container_.tags == Container::Tags::kBetweenFrames) return found.container != &container_;
  // Such frames are also found further on, inside another container.
  return !found.container->parameters_in_frames || HasMpegAudioAt(offset + found.offset);
}

void Demuxer::NoteDamageBefore(uint64_t offset) {
  damaged_bytes_ += input_.end().TakeDamagedBytes(offset);
  if (matroska_damage_) damaged_bytes_ += matroska_damage_->TakeBefore(offset);
}

void Demuxer::NoteFileEnd() {
  const uint64_t size = source_.size();
  if (size < size_) {
    file_end_ = size;
  } else if (!IsBare(container_)) {
    uint64_t end = input_.end().Find();
    const uint64_t rest = input_.end().rest();
    if (rest >= packets_end_ && rest > 0 && HoldsMoreThanTags(source_, rest)) end = std::min(end, rest);
    if (end < size && BeginOfLastTags(source_, end, 0) > end) file_end_ = end;
  } else if (next_offset_ > 0 && next_offset_ < size && IsOtherFile(next_offset_)) {
    file_end_ = next_offset_;
  }
}

std::vector<Unheard> Demuxer::unheard() const {
  std::vector<Unheard> parts;
  int number = 0;
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    if (format_->streams[i]->codecpar->codec_type != AVMEDIA_TYPE_AUDIO) continue;
    ++number;
    if (i >= other_bytes_.size() || other_bytes_[i] == 0) continue;
    parts.push_back({.bytes = other_bytes_[i],
                     .at_s = 0.0,
                     .what = "audio track " + std::to_string(number) +
                             " of the file: only the first one is analysed, so send the others as files",
                     .until_s = std::numeric_limits<double>::infinity()});
  }
  if (const auto left_out = LeftOut()) parts.push_back(*left_out);
  return parts;
}

// The end of the audio as the container states it, in the container's time.
std::optional<double> Demuxer::StatedEnd() const {
  const AVStream& audio = stream();
  const bool is_stated = format_->duration_estimation_method != AVFMT_DURATION_FROM_BITRATE;
  if (IsAvi(container_)) return StatedAviEnd(source_, begin_);
  if (container_.name != std::string_view("matroska")) {
    if (!is_stated || audio.duration == AV_NOPTS_VALUE || audio.duration <= 0) return {};
    return Seconds(audio.duration, audio.time_base);
  }
  // Matroska has it per stream in a tag, and for all streams in the header.
  const AVDictionaryEntry* tag = av_dict_get(audio.metadata, "DURATION", nullptr, AV_DICT_IGNORE_SUFFIX);
  int64_t duration_us = 0;
  if (tag != nullptr && av_parse_time(&duration_us, tag->value, /*duration=*/1) >= 0) {
    return static_cast<double>(duration_us) / AV_TIME_BASE;
  }
  const bool is_alone =
      std::none_of(format_->streams, format_->streams + format_->nb_streams,
                   [&](const AVStream* other) { return other != &audio && HasOwnTime(*other); });
  const bool is_cut = input_.end().is_cut();
  if (is_stated && (is_alone || is_cut) && format_->duration > 0) {
    return static_cast<double>(format_->duration) / AV_TIME_BASE;
  }
  return {};
}

std::optional<StatedLength> Demuxer::stated_length() const {
  // Guessed stamps tell nothing of what was found.
  if (const auto stated_s = StatedEnd()) return StatedLength{*stated_s, IsAvi(container_) ? 0.0 : end_s_};
  const bool lacks_end = container_.name == std::string_view("ogg") && !input_.end().has_last_page();
  if (!lacks_end && !input_.end().is_cut()) return {};
  return StatedLength{{}, end_s_};
}

}  // namespace veravox
