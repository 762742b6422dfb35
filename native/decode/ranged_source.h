// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "decode/byte_source.h"
#include "stop_signal.h"

namespace veravox {

// Reads ranges of a remote file.
class RangeReader {
 public:
  virtual ~RangeReader() = default;
  // Fills all of `out` with the bytes from `offset` on; blocks until they arrive. Throws StageError.
  virtual void Read(uint64_t offset, std::span<uint8_t> out) = 0;
};

// A file of any size, read in blocks on demand; the last few are kept.
//
// The container's own fields decide where libav reads, so a hostile one could ask for the same blocks over
// and over. Reading is limited to twice the file's size plus some blocks.
class RangedSource final : public ByteSource {
 public:
  struct Limits {
    size_t block_bytes = 1024 * 1024;
    size_t kept_blocks = 6;
    // In addition to twice the file's blocks.
    uint64_t spare_blocks = 64;
  };

  // `reader` and `stop` are used in place and outlive this object.
  RangedSource(RangeReader& reader, uint64_t size, const StopSignal& stop)
      : RangedSource(reader, size, stop, Limits()) {}
  RangedSource(RangeReader& reader, uint64_t size, const StopSignal& stop, const Limits& limits);

  uint64_t size() const override { return size_; }
  // After a failure every further call fails the same way, so that it is not mistaken for the end of the
  // file.
  std::span<const uint8_t> Read(uint64_t offset, size_t count) override;

  uint64_t blocks_read() const { return blocks_read_; }

 private:
  struct Block {
    uint64_t index = 0;
    uint64_t last_use = 0;
    std::vector<uint8_t> bytes;
  };

  const Block& Find(uint64_t index);
  void Fill(Block& block, uint64_t index);

  RangeReader& reader_;
  const uint64_t size_;
  const StopSignal& stop_;
  const Limits limits_;
  const uint64_t max_blocks_read_;
  std::vector<Block> blocks_;
  uint64_t uses_ = 0;
  uint64_t blocks_read_ = 0;
  std::exception_ptr failure_;
};

}  // namespace veravox
