// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace veravox {

// The result of a search for tags at the end (file_tags.h).
struct LastTags {
  uint64_t from = 0;
  uint64_t zeros_in_frames = 0;
  uint64_t size = 0;  // of the source, which may become shorter
  uint64_t begin = 0;
  bool hold_frames = false;
};

// A source of a file's bytes. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  virtual uint64_t size() const = 0;
  // Bytes from `offset` on: at least one and at most `count`, none past the end. Valid until the next call.
  // Throws StageError.
  virtual std::span<const uint8_t> Read(uint64_t offset, size_t count) = 0;

  // The source that this one is the end of, and the offset in it; itself if it is whole.
  virtual std::pair<ByteSource*, uint64_t> Whole() { return {this, 0}; }
  // Of a whole source. All files that are joined in it have the same tags behind them.
  std::vector<LastTags> last_tags;
  // Of a whole source: read by demuxers, those of all joined files together.
  uint64_t demuxed_bytes = 0;
};

// A file in memory, which outlives this object. Nothing is copied.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint64_t size() const override { return bytes_.size(); }
  std::span<const uint8_t> Read(uint64_t offset, size_t count) override {
    if (offset >= bytes_.size()) return {};
    const auto begin = static_cast<size_t>(offset);
    return bytes_.subspan(begin, std::min(count, bytes_.size() - begin));
  }

 private:
  std::span<const uint8_t> bytes_;
};

// The bytes of another source from `begin` on, an offset inside it. That source outlives this one.
class TailSource final : public ByteSource {
 public:
  TailSource(ByteSource& source, uint64_t begin) : source_(source), begin_(begin) {}

  uint64_t size() const override { return source_.size() - begin_; }
  std::span<const uint8_t> Read(uint64_t offset, size_t count) override {
    if (offset >= size()) return {};
    return source_.Read(begin_ + offset, count);
  }
  std::pair<ByteSource*, uint64_t> Whole() override {
    const auto [whole, begin] = source_.Whole();
    return {whole, begin + begin_};
  }

 private:
  ByteSource& source_;
  const uint64_t begin_;
};

// Fills `out` as far as the source has bytes; returns how many.
inline size_t CopyFrom(ByteSource& source, uint64_t offset, std::span<uint8_t> out) {
  size_t copied = 0;
  while (copied < out.size()) {
    const auto bytes = source.Read(offset + copied, out.size() - copied);
    if (bytes.empty()) break;
    std::memcpy(out.data() + copied, bytes.data(), bytes.size());
    copied += bytes.size();
  }
  return copied;
}

// `count` contiguous bytes, fewer at the end of the file; copied to `pieces` if they span several of the
// source's pieces.
inline std::span<const uint8_t> ReadInARow(ByteSource& source, uint64_t offset, size_t count,
                                           std::vector<uint8_t>& pieces) {
  const uint64_t left = source.size() - std::min(offset, source.size());
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(count, left));
  const auto bytes = source.Read(offset, wanted);
  if (bytes.size() == wanted) return bytes;
  pieces.resize(wanted);
  return std::span<const uint8_t>(pieces).first(CopyFrom(source, offset, pieces));
}

}  // namespace veravox
