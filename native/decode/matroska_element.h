// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace veravox {

// The header of an element of Matroska and WebM: RFC 8794, section 6, and RFC 9559.
struct MatroskaElement {
  static constexpr size_t kMostHeaderBytes = 12;
  static constexpr uint64_t kFile = 0x1a45dfa3, kSegment = 0x18538067, kCluster = 0x1f43b675;
  static constexpr uint64_t kSimpleBlock = 0xa3, kBlockGroup = 0xa0, kBlock = 0xa1;

  // Empty if no element begins with these bytes.
  static std::optional<MatroskaElement> Read(std::span<const uint8_t> bytes);
  // Of the file's, a segment's or a cluster's elements; all others lie deeper.
  bool is_known() const;
  bool is_block() const { return id == kSimpleBlock || id == kBlockGroup; }
  // A part of a segment: its id is long enough to be found behind damage.
  bool is_part() const { return is_known() && id > 0xffffff && id != kFile && id != kSegment; }

  uint64_t id = 0;
  uint64_t header_bytes = 0;
  std::optional<uint64_t> size;  // without the header; live recordings do not know it
};

}  // namespace veravox
