// SPDX-License-Identifier: Apache-2.0
#include "decode/memory_input.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace veravox {
namespace {

// Headers are read through this buffer; larger reads go straight into the packet.
constexpr int kBufferBytes = 8 * 1024;

}  // namespace

MemoryInput::MemoryInput(std::span<const uint8_t> bytes, const StopSignal& stop)
    : bytes_(bytes), stop_(stop) {
  auto* buffer = static_cast<uint8_t*>(av_malloc(kBufferBytes));
  if (buffer != nullptr) {
    io_.reset(avio_alloc_context(buffer, kBufferBytes, /*write_flag=*/0, this, Read, nullptr, Seek));
    if (!io_) av_free(buffer);
  }
  if (!io_) throw StageError(ErrorCode::kInternal, "Out of memory for the file reader.");
}

double MemoryInput::progress() const {
  if (bytes_.empty()) return 1.0;
  const double share = static_cast<double>(position_) / static_cast<double>(bytes_.size());
  return std::clamp(share, 0.0, 1.0);
}

int MemoryInput::Read(void* self, uint8_t* out, int size) {
  auto& input = *static_cast<MemoryInput*>(self);
  if (input.stop_.stopped()) return AVERROR_EXIT;
  const auto total = static_cast<int64_t>(input.bytes_.size());
  if (input.position_ >= total) return AVERROR_EOF;
  const int64_t count = std::min<int64_t>(size, total - input.position_);
  std::memcpy(out, input.bytes_.data() + input.position_, static_cast<size_t>(count));
  input.position_ += count;
  return static_cast<int>(count);
}

int64_t MemoryInput::Seek(void* self, int64_t offset, int whence) {
  auto& input = *static_cast<MemoryInput*>(self);
  const auto total = static_cast<int64_t>(input.bytes_.size());
  int64_t base = 0;
  switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE:
      return total;
    case SEEK_SET:
      break;
    case SEEK_CUR:
      base = input.position_;
      break;
    case SEEK_END:
      base = total;
      break;
    default:
      return AVERROR(EINVAL);
  }
  int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) return AVERROR(EINVAL);
  // Offsets in headers may point anywhere. Past the end is no error: the next read says end of file.
  input.position_ = target;
  return target;
}

}  // namespace veravox
