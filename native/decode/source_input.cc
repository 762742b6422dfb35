// SPDX-License-Identifier: Apache-2.0
#include "decode/source_input.h"

#include <algorithm>
#include <cstdio>

namespace veravox {
namespace {

// Headers are read through this buffer; larger reads go straight into the packet.
constexpr int kBufferBytes = 8 * 1024;

// Tables of packets may name the same bytes again and again. Files whose tracks lie one behind the other are
// read in pieces of a buffer, for packets of a few hundred bytes.
constexpr uint64_t kMostReadings = 100;
constexpr uint64_t kAnyFileBytes = 1024 * 1024;

}  // namespace

SourceInput::SourceInput(ByteSource& source, uint64_t begin, const Container& container,
                         const StopSignal& stop)
    : source_(source),
      begin_(begin),
      end_(source, begin, container),
      total_(static_cast<int64_t>(source.size() - begin)),
      stop_(stop) {
  auto* buffer = static_cast<uint8_t*>(av_malloc(kBufferBytes));
  if (buffer != nullptr) {
    io_.reset(avio_alloc_context(buffer, kBufferBytes, /*write_flag=*/0, this, Read, nullptr, Seek));
    if (!io_) av_free(buffer);
  }
  if (!io_) throw StageError(ErrorCode::kInternal, "Out of memory for the file reader.");
}

double SourceInput::progress() const {
  if (total_ == 0) return 1.0;
  const double share = static_cast<double>(position_) / static_cast<double>(total_);
  return std::clamp(share, 0.0, 1.0);
}

int SourceInput::Read(void* self, uint8_t* out, int size) {
  auto& input = *static_cast<SourceInput*>(self);
  if (input.stop_.stopped() || input.failure_) return AVERROR_EXIT;
  if (input.position_ >= input.total_) return AVERROR_EOF;
  try {
    const auto offset = input.begin_ + static_cast<uint64_t>(input.position_);
    const uint64_t end = input.end_.Before(offset + static_cast<uint64_t>(size));
    input.total_ = static_cast<int64_t>(end - input.begin_);
    if (input.position_ >= input.total_) return AVERROR_EOF;
    const auto count = static_cast<size_t>(std::min<int64_t>(size, input.total_ - input.position_));
    const size_t copied = CopyFrom(input.source_, offset, {out, count});
    if (copied == 0) return AVERROR_EOF;  // the source has become shorter
    ByteSource& whole = *input.source_.Whole().first;
    whole.demuxed_bytes += copied;
    if (whole.demuxed_bytes > kMostReadings * whole.size() + kAnyFileBytes) {
      throw StageError(ErrorCode::kUndecodable, "The file refers to the same bytes too often.");
    }
    input.position_ += static_cast<int64_t>(copied);
    return static_cast<int>(copied);
  } catch (...) {  // libav is C: no exception may pass through it
    input.failure_ = std::current_exception();
    return AVERROR_EXIT;
  }
}

int64_t SourceInput::Seek(void* self, int64_t offset, int whence) {
  auto& input = *static_cast<SourceInput*>(self);
  int64_t base = 0;
  switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE:
      return input.total_;
    case SEEK_SET:
      break;
    case SEEK_CUR:
      base = input.position_;
      break;
    case SEEK_END:
      base = input.total_;
      break;
    default:
      return AVERROR(EINVAL);
  }
  int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) return AVERROR(EINVAL);
  // Offsets in headers may point anywhere. Past the end is not an error: the next read reports the end of the
  // file.
  input.position_ = target;
  return target;
}

}  // namespace veravox
