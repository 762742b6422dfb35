// SPDX-License-Identifier: Apache-2.0
#include "decode/mov_edit_list.h"

#include <cstddef>
#include <string_view>

namespace veravox {

bool HasHostileEditList(std::span<const uint8_t> bytes) {
  constexpr uint32_t kMaxEdits = 1000;
  constexpr size_t kCountAt = 8;  // after the name, the version and the flags (ISO/IEC 14496-12, 8.6.6)
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // A compressed index, which nothing has written for decades, could hide a list from this look.
  if (text.find("cmov") != std::string_view::npos) return true;
  for (size_t at = text.find("elst"); at != std::string_view::npos; at = text.find("elst", at + 1)) {
    if (bytes.size() - at < kCountAt + 4) return false;
    uint32_t edits = 0;
    for (size_t i = 0; i < 4; ++i) edits = edits << 8 | bytes[at + kCountAt + i];
    if (edits > kMaxEdits) return true;
  }
  return false;
}

}  // namespace veravox
