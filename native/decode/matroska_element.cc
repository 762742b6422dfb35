// SPDX-License-Identifier: Apache-2.0
#include "decode/matroska_element.h"

#include <algorithm>
#include <array>
#include <bit>

#include "decode/big_endian.h"

namespace veravox {

std::optional<MatroskaElement> MatroskaElement::Read(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return {};
  const auto id_bytes = static_cast<size_t>(std::countl_zero(bytes[0]) + 1);
  if (id_bytes > 4 || bytes.size() <= id_bytes) return {};
  const auto size_bytes = static_cast<size_t>(std::countl_zero(bytes[id_bytes]) + 1);
  if (size_bytes > 8 || bytes.size() < id_bytes + size_bytes) return {};
  const uint64_t all_ones = (uint64_t{1} << (7 * size_bytes)) - 1;
  const uint64_t size = BigEndian(bytes.subspan(id_bytes, size_bytes)) & all_ones;
  MatroskaElement element{
      .id = BigEndian(bytes.first(id_bytes)), .header_bytes = id_bytes + size_bytes, .size = {}};
  if (size != all_ones) element.size = size;
  return element;
}

bool MatroskaElement::is_known() const {
  constexpr std::array<uint64_t, 18> kIds = {
      kFile,    kSegment, 0x114d9b74, 0x1549a966, 0x1654ae6b, 0x1c53bb6b, 0x1043a770, 0x1254c367, 0x1941a469,
      kCluster, 0xec,     0xbf,       0xe7,       0xa3,       0xa0,       0xa7,       0xab,       0x5854};
  return std::find(kIds.begin(), kIds.end(), id) != kIds.end();
}

}  // namespace veravox
