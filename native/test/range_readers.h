// SPDX-License-Identifier: Apache-2.0
#pragma once

// Byte sources outside memory, for tests.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

#include "decode/ranged_source.h"

namespace veravox::test {

// Small enough for every file to have many blocks, and for samples and headers to span them.
inline constexpr RangedSource::Limits kSmallBlocks{
    .block_bytes = 1021, .kept_blocks = 3, .spare_blocks = 6000};

// Reads ranges of a buffer.
class SpanReader final : public RangeReader {
 public:
  explicit SpanReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  void Read(uint64_t offset, std::span<uint8_t> out) override {
    const auto range = bytes_.subspan(static_cast<size_t>(offset), out.size());
    std::copy(range.begin(), range.end(), out.begin());
  }

 private:
  std::span<const uint8_t> bytes_;
};

class FileReader final : public RangeReader {
 public:
  explicit FileReader(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error("cannot open " + path);
  }
  ~FileReader() override { close(file_); }
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  uint64_t size() const { return static_cast<uint64_t>(lseek(file_, 0, SEEK_END)); }
  void Read(uint64_t offset, std::span<uint8_t> out) override {
    const ssize_t count = pread(file_, out.data(), out.size(), static_cast<off_t>(offset));
    if (count != static_cast<ssize_t>(out.size()))
      throw StageError(ErrorCode::kSourceFailed, "The file has become shorter.");
  }

 private:
  int file_;
};

// Runs a callback before every read.
class HookedReader final : public RangeReader {
 public:
  HookedReader(RangeReader& reader, std::function<void()> before)
      : reader_(reader), before_(std::move(before)) {}
  void Read(uint64_t offset, std::span<uint8_t> out) override {
    before_();
    reader_.Read(offset, out);
  }

 private:
  RangeReader& reader_;
  std::function<void()> before_;
};

}  // namespace veravox::test
