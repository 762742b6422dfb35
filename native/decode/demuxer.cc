// SPDX-License-Identifier: Apache-2.0
#include "decode/demuxer.h"

#include <algorithm>
#include <string>

#include "decode/codec_allow_list.h"

namespace veravox {
namespace {

// How far libavformat may look ahead where the rate and channels are not in the header.
constexpr int64_t kProbeBytes = 64 * 1024;
constexpr int64_t kProbeDurationUs = 1'000'000;
constexpr int64_t kMaxStreams = 64;
// Without it the demuxer hands out 4 KiB at a time, and the cost per packet shows.
constexpr int64_t kWavPacketBytes = 64 * 1024;

// A file that names further files (references, playlists, streams of a network) does not get them.
int RefuseNestedOpen(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
  return AVERROR(EPERM);
}

// Whether players begin the recording with this stream if it is the first to begin.
bool HasOwnTime(const AVStream& stream) {
  const AVMediaType type = stream.codecpar->codec_type;
  return (type == AVMEDIA_TYPE_AUDIO || type == AVMEDIA_TYPE_VIDEO) &&
         (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) == 0;
}

int IsStopped(void* stop) { return static_cast<const StopSignal*>(stop)->stopped() ? 1 : 0; }

}  // namespace

Demuxer::Demuxer(ByteSource& source, uint64_t begin, const Container& container, const StopSignal& stop)
    : stop_(stop), container_(container), input_(source, begin, stop) {
  SetUpLibavOnce();
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
  format->io_open = RefuseNestedOpen;
  format->interrupt_callback = {IsStopped, const_cast<StopSignal*>(&stop_)};

  Options options;
  // Also for whatever a demuxer opens inside itself.
  options.Set("format_whitelist", demuxer->name);
  options.Set("codec_whitelist", kAllowedDecoders);
  options.Set("probesize", kProbeBytes);
  options.Set("analyzeduration", kProbeDurationUs);
  options.Set("max_streams", kMaxStreams);
  options.Set("max_size", kWavPacketBytes);
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
    throw StageError(ErrorCode::kNoAudioStream,
                     std::string("The ") + container_.name + " file has no audio stream.");
  }
}

void Demuxer::FindParameters() {
  // Matroska states the rate that an Opus encoder was fed with, but what has to be cut off the end is counted
  // at the one rate that Opus decoders have.
  constexpr int kOpusRateHz = 48000;
  const AVCodecParameters& parameters = *stream().codecpar;
  const bool opus_at_another_rate =
      parameters.codec_id == AV_CODEC_ID_OPUS && parameters.sample_rate != kOpusRateHz;
  if (!container_.parameters_in_frames && !opus_at_another_rate) return;
  const int error = avformat_find_stream_info(format_.get(), nullptr);
  if (error < 0) ThrowUnreadable(error);
  input_.ThrowIfFailed();
}

void Demuxer::ThrowUnreadable(int error) const {
  stop_.ThrowIfStopped();  // which the input reported as a read error
  input_.ThrowIfFailed();
  throw StageError(ErrorCode::kUndecodable, std::string("The file looks like ") + container_.name +
                                                ", but cannot be read: " + LibavErrorText(error) + ".");
}

bool Demuxer::Next(AVPacket& packet) {
  for (;;) {
    stop_.ThrowIfStopped();
    av_packet_unref(&packet);
    const int error = av_read_frame(format_.get(), &packet);
    input_.ThrowIfFailed();
    if (error == AVERROR(EAGAIN)) continue;
    if (error < 0) {
      stop_.ThrowIfStopped();  // which the input reported as a read error
      ended_by_damage_ = error != AVERROR_EOF;
      return false;
    }
    if (!has_begun_) NoteStart(packet);
    if (packet.stream_index == stream_index_) return true;
  }
}

// Of each stream that comes before the audio, only the first packet is read.
void Demuxer::NoteStart(const AVPacket& packet) {
  const int64_t stamp = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  const auto index = static_cast<unsigned>(packet.stream_index);
  has_begun_ = packet.stream_index == stream_index_;
  if (!has_begun_ && stamp != AV_NOPTS_VALUE && HasOwnTime(*format_->streams[index])) {
    const double stamp_s = static_cast<double>(stamp) * av_q2d(format_->streams[index]->time_base);
    origin_s_ = std::min(origin_s_, stamp_s);
  }
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    const bool is_done = has_begun_ || i == index;
    if (is_done && static_cast<int>(i) != stream_index_) format_->streams[i]->discard = AVDISCARD_ALL;
  }
}

}  // namespace veravox
