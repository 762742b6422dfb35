// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

namespace veravox::test {

// Damages files as broken transfers and attackers do. Equal seeds give equal results.
class Mutator {
 public:
  using Bytes = std::vector<uint8_t>;

  Mutator(const std::vector<Bytes>& originals, uint64_t seed) : originals_(originals), random_(seed) {}

  Bytes Next() {
    Bytes bytes = Original();
    // Few in most inputs: a parser refuses a file that is damaged all over at once.
    for (size_t left = 1 + Below(1 + Below(5)); left > 0; --left) MutateOnce(bytes);
    bytes.resize(std::min(bytes.size(), kMaxBytes));
    return bytes;
  }

 private:
  static constexpr size_t kMaxBytes = 256 * 1024;
  static constexpr size_t kMaxRun = 4096;

  // Below(0) is 0.
  size_t Below(size_t bound) { return bound < 2 ? 0 : static_cast<size_t>(random_() % bound); }

  const Bytes& Original() { return originals_[Below(originals_.size())]; }

  // Half of all places lie in the headers, which have the interesting bytes.
  size_t Place(const Bytes& bytes) {
    constexpr size_t kHeaderBytes = 1024;
    return Below(Below(2) == 0 ? std::min(bytes.size(), kHeaderBytes) : bytes.size());
  }

  static auto At(Bytes& bytes, size_t place) { return bytes.begin() + static_cast<ptrdiff_t>(place); }

  Bytes Cut(const Bytes& from) {
    const size_t first = Place(from);
    const size_t count = std::min(from.size() - first, 1 + Below(kMaxRun));
    return {from.begin() + static_cast<ptrdiff_t>(first),
            from.begin() + static_cast<ptrdiff_t>(first + count)};
  }

  void MutateOnce(Bytes& bytes) {
    if (bytes.empty()) bytes = Original();
    switch (Below(11)) {
      case 0:
        return FlipBits(bytes);
      case 1:
        return FillRun(bytes);
      case 2:
        return bytes.resize(Place(bytes));
      case 3:
        return Insert(bytes, Cut(bytes));  // duplicated chunk
      case 4:
        return Insert(bytes, Cut(Original()));  // chunk of another format
      case 5:
        return Remove(bytes);
      case 6:
        return Swap(bytes);
      case 7:
        return Splice(bytes);
      case 8:
        return WriteInteger(bytes);
      case 9:
        return WriteInteger(bytes);
      case 10:
        return AddToByte(bytes);
    }
  }

  void FlipBits(Bytes& bytes) {
    for (size_t left = 1 + Below(16); left > 0; --left)
      bytes[Place(bytes)] ^= static_cast<uint8_t>(1u << Below(8));
  }

  void FillRun(Bytes& bytes) {
    const size_t first = Place(bytes);
    const size_t count = std::min(bytes.size() - first, 1 + Below(64));
    const uint8_t fills[] = {0, 0xff, static_cast<uint8_t>(random_())};
    std::fill_n(At(bytes, first), count, fills[Below(std::size(fills))]);
  }

  void Insert(Bytes& bytes, const Bytes& chunk) {
    bytes.insert(At(bytes, Place(bytes)), chunk.begin(), chunk.end());
  }

  void Remove(Bytes& bytes) {
    const size_t first = Place(bytes);
    const size_t count = std::min(bytes.size() - first, 1 + Below(kMaxRun));
    bytes.erase(At(bytes, first), At(bytes, first + count));
  }

  void Swap(Bytes& bytes) {
    const size_t count = 1 + Below(std::min(bytes.size() / 2, kMaxRun));
    const size_t first = Below(bytes.size() / 2 - std::min(bytes.size() / 2, count) + 1);
    const size_t second = bytes.size() / 2 + first;
    std::swap_ranges(At(bytes, first), At(bytes, first + std::min(count, bytes.size() - second)),
                     At(bytes, second));
  }

  void Splice(Bytes& bytes) {
    const Bytes& other = Original();
    bytes.resize(Below(bytes.size()));
    bytes.insert(bytes.end(), other.begin() + static_cast<ptrdiff_t>(Below(other.size())), other.end());
  }

  void WriteInteger(Bytes& bytes) {
    constexpr uint64_t kInteresting[] = {
        0,       1,          2,          0x7f,       0x80,       0xff,       0x7fff,     0x8000,     0xffff,
        0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x3fffffff, 0x10000000, 1ull << 63, ~0ull};
    constexpr size_t kWidths[] = {1, 2, 4, 8};
    const uint64_t value = kInteresting[Below(std::size(kInteresting))];
    const size_t width = kWidths[Below(std::size(kWidths))];
    const bool big_endian = Below(2) == 0;
    const size_t place = Place(bytes);
    for (size_t i = 0; i < width && place + i < bytes.size(); ++i) {
      bytes[place + i] = static_cast<uint8_t>(value >> 8 * (big_endian ? width - 1 - i : i));
    }
  }

  void AddToByte(Bytes& bytes) { bytes[Place(bytes)] += static_cast<uint8_t>(Below(9) - 4); }

  const std::vector<Bytes>& originals_;
  std::mt19937_64 random_;
};

}  // namespace veravox::test
