// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "stage_error.h"

namespace veravox {

// The state of stages in bytes. One function per stage lists its fields, for both ways: Transfer() writes a
// field to a new state, or sets it from one being read. Numbers are little-endian, as everywhere here.
class SavedState {
 public:
  // A state to write.
  SavedState() = default;
  // A state to read. `bytes` is used in place and outlives this object.
  explicit SavedState(std::span<const uint8_t> bytes) : left_(bytes), is_read_(true) {}

  bool is_read() const { return is_read_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

  template <typename T>
  void Transfer(T& value) {
    static_assert(std::is_arithmetic_v<T>);
    Copy(reinterpret_cast<uint8_t*>(&value), sizeof value);
  }
  void Transfer(bool& value) {
    auto byte = static_cast<uint8_t>(value);
    Transfer(byte);
    value = byte != 0;
  }
  template <typename T>
  void Transfer(std::span<T> values) {
    Copy(reinterpret_cast<uint8_t*>(values.data()), values.size_bytes());
  }
  template <typename T>
  void Transfer(std::vector<T>& values) {
    auto count = static_cast<uint64_t>(values.size());
    Transfer(count);
    // Checked before memory is reserved for it.
    Require(!is_read_ || count <= left_.size() / sizeof(T));
    values.resize(static_cast<size_t>(count));
    Transfer(std::span<T>(values));
  }

  // A state that is read may be damaged: check what a stage relies on after Transfer().
  void Require(bool holds) const {
    if (!holds && is_read_) throw StageError(ErrorCode::kInternal, "The saved state is damaged.");
  }
  // For counts of samples, frames or windows: far beyond what any file has, and far from overflow.
  void RequireCount(int64_t count) const { Require(count >= 0 && count < int64_t{1} << 48); }
  // Call it after the last field.
  void RequireEnd() const { Require(left_.empty()); }

 private:
  void Copy(uint8_t* field, size_t size) {
    // An empty vector may have no memory, not even an address.
    if (size == 0) return;
    if (!is_read_) {
      bytes_.insert(bytes_.end(), field, field + size);
      return;
    }
    Require(size <= left_.size());
    std::memcpy(field, left_.data(), size);
    left_ = left_.subspan(size);
  }

  std::vector<uint8_t> bytes_;
  std::span<const uint8_t> left_;
  bool is_read_ = false;
};

}  // namespace veravox
