// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>

#include "decode/byte_source.h"
#include "decode/container_sniffer.h"
#include "decode/file_end.h"
#include "decode/libav.h"
#include "stop_signal.h"

namespace veravox {

// Gives libav the bytes of one file in a source, from `begin` on. A stop, or a failure of the source, becomes
// a read error, which also ends libav's own loops.
class SourceInput {
 public:
  // `source` and `stop` are used in place and outlive this object.
  SourceInput(ByteSource& source, uint64_t begin, const Container& container, const StopSignal& stop);
  SourceInput(const SourceInput&) = delete;  // libav holds its address
  SourceInput& operator=(const SourceInput&) = delete;

  AVIOContext* io() { return io_.get(); }
  // Share of the bytes that libav has read so far, 0..1.
  double progress() const;
  // The offset of another file in the source, as far as it is known so far.
  FileEnd& end() { return end_; }
  const FileEnd& end() const { return end_; }
  // libav may mistake a failed read for the end of the file: check it after each libav call.
  void ThrowIfFailed() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static int Read(void* self, uint8_t* out, int size);
  static int64_t Seek(void* self, int64_t offset, int whence);

  ByteSource& source_;
  const uint64_t begin_;
  FileEnd end_;
  int64_t total_;  // from begin_ on
  const StopSignal& stop_;
  int64_t position_ = 0;  // may be past the end
  std::exception_ptr failure_;
  IoContextPtr io_;
};

}  // namespace veravox
