// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace veravox {

// The number in these bytes, each of which contributes its lower `bits_per_byte` bits.
inline uint64_t BigEndian(std::span<const uint8_t> bytes, int bits_per_byte = 8) {
  uint64_t value = 0;
  for (const uint8_t byte : bytes) value = value << bits_per_byte | byte;
  return value;
}

}  // namespace veravox
