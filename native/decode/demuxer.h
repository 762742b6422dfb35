// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "decode/container_sniffer.h"
#include "decode/libav.h"
#include "decode/matroska_damage.h"
#include "decode/packet_source.h"
#include "decode/source_input.h"
#include "stop_signal.h"

namespace veravox {

// The packets of the first audio stream of a file. Not thread-safe.
class Demuxer final : public PacketSource {
 public:
  // The container starts at `begin`. The reference arguments are used in place and outlive the demuxer.
  // Throws StageError.
  Demuxer(ByteSource& source, uint64_t begin, const Container& container, const StopSignal& stop);

  const char* container_name() const override { return container_.name; }
  double progress() const override { return input_.progress(); }
  const AVCodecParameters& parameters() const override { return *stream().codecpar; }
  AVRational time_base() const override { return stream().time_base; }
  double origin_s() const override { return origin_s_; }

  bool Next(AVPacket& packet) override;
  int64_t failures() const override { return failures_; }
  uint64_t damaged_bytes() const override { return damaged_bytes_; }
  std::vector<Unheard> unheard() const override;
  std::optional<StatedLength> stated_length() const override;
  std::optional<uint64_t> file_end() const override { return file_end_; }

 private:
  const AVStream& stream() const { return *format_->streams[stream_index_]; }
  void Open();
  void SelectFirstAudioStream();
  void FindParameters();
  bool MayGoOn(int64_t offset);
  bool Take(AVPacket& packet);
  void CountOther(size_t index, int bytes);
  void NoteStart(const AVPacket& packet);
  void NoteEnd(const AVPacket& packet);
  std::optional<Unheard> LeftOut() const;
  void EndBeforeOtherFile(AVPacket& packet);
  bool IsOtherFile(uint64_t offset);
  bool HasMpegAudioAt(uint64_t offset);
  bool IsAt(uint64_t offset, std::span<const uint8_t> bytes);
  void NoteDamageBefore(uint64_t offset);
  void NoteFileEnd();
  std::optional<double> StatedEnd() const;
  [[noreturn]] void ThrowUnreadable(int error) const;
  void ThrowIfIndexIsMissing() const;

  const StopSignal& stop_;
  const Container& container_;
  ByteSource& source_;
  const uint64_t begin_;
  const uint64_t size_;
  SourceInput input_;  // outlives format_, which reads from it
  FormatContextPtr format_;
  int stream_index_ = -1;
  double origin_s_ = std::numeric_limits<double>::infinity();
  bool has_begun_ = false;  // the audio
  double end_s_ = 0.0;      // of the audio's packets
  double last_stamp_s_ = 0.0;
  int64_t bytes_ = 0;  // of the audio's packets, as is the next
  double packets_s_ = 0.0;
  bool has_ended_ = false;
  std::vector<int64_t> other_bytes_;  // of other audio streams, by index
  uint64_t next_offset_ = 0;          // in a bare stream: where the next packet should be; 0 before the first
  int looks_left_;
  std::vector<uint8_t> pieces_;
  std::optional<uint64_t> file_end_;
  int64_t failures_ = 0;
  int64_t failed_at_ = -1;
  int tries_left_;
  std::optional<MatroskaDamage> matroska_damage_;
  uint64_t damaged_bytes_ = 0;
  uint64_t packets_end_ = 0;  // the furthest end of a packet in the file
};

}  // namespace veravox
