// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "decode/byte_source.h"

namespace veravox {

// Sentences on the missing and present parts of a MOV, MP4 or M4A file that starts at `begin`; empty if its
// index is complete.
std::string MissingMovIndex(ByteSource& source, uint64_t begin);

}  // namespace veravox
