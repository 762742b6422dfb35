// SPDX-License-Identifier: Apache-2.0
#include "decode/demuxer.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "decode/codec_allow_list.h"
#include "decode/mov_boxes.h"

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

// What stands between frames, or behind the last one.
bool IsAllZero(const AVPacket& packet) {
  return std::all_of(packet.data, packet.data + packet.size, [](uint8_t byte) { return byte == 0; });
}

int IsStopped(void* stop) { return static_cast<const StopSignal*>(stop)->stopped() ? 1 : 0; }

}  // namespace

Demuxer::Demuxer(ByteSource& source, uint64_t begin, const Container& container, const StopSignal& stop)
    : stop_(stop), container_(container), source_(source), begin_(begin), input_(source, begin, stop) {
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
    } else {
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
  // How far into the file the demuxer of AAC may look for the next frame, behind what is none.
  format_->probesize = std::numeric_limits<int64_t>::max();
}

void Demuxer::ThrowUnreadable(int error) const {
  stop_.ThrowIfStopped();  // which the input reported as a read error
  input_.ThrowIfFailed();
  if (container_.demuxer == std::string_view("mov")) {
    const std::string missing = MissingMovIndex(source_, begin_);
    if (!missing.empty()) throw StageError(ErrorCode::kUndecodable, missing);
  }
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
    const bool is_padding = container_.parameters_in_frames && IsAllZero(packet);
    if (packet.stream_index == stream_index_ && !is_padding) return true;
  }
}

}  // namespace veravox
