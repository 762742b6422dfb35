// SPDX-License-Identifier: Apache-2.0
#pragma once

// libav's C headers and an owner for each of its handles. Builds with FFmpeg 5.1 (the first with
// AVChannelLayout), 6 and 7.

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/dict.h>
#include <libavutil/frame.h>
#include <libavutil/mem.h>
}

#include <memory>
#include <string>

namespace veravox {

// Calls one of libav's `void free(T**)` functions.
template <auto Free>
struct LibavDeleter {
  template <typename T>
  void operator()(T* handle) const {
    Free(&handle);
  }
};

struct IoContextDeleter {
  void operator()(AVIOContext* io) const {
    av_freep(&io->buffer);  // avio_context_free does not free the buffer, which libav may have replaced
    avio_context_free(&io);
  }
};

using CodecContextPtr = std::unique_ptr<AVCodecContext, LibavDeleter<avcodec_free_context>>;
using FormatContextPtr = std::unique_ptr<AVFormatContext, LibavDeleter<avformat_close_input>>;
using FramePtr = std::unique_ptr<AVFrame, LibavDeleter<av_frame_free>>;
using IoContextPtr = std::unique_ptr<AVIOContext, IoContextDeleter>;
using PacketPtr = std::unique_ptr<AVPacket, LibavDeleter<av_packet_free>>;

// Options for libav's open functions, which leave the unused ones in the dictionary.
class Options {
 public:
  Options() = default;
  ~Options() { av_dict_free(&entries_); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  void Set(const char* name, const char* value) { av_dict_set(&entries_, name, value, 0); }
  void Set(const char* name, int64_t value) { av_dict_set_int(&entries_, name, value, 0); }
  AVDictionary** address() { return &entries_; }

 private:
  AVDictionary* entries_ = nullptr;
};

// Sets up libav's only global state. Call it before using anything else of libav.
void SetUpLibavOnce();

inline std::string LibavErrorText(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof text);
  return text;
}

}  // namespace veravox
