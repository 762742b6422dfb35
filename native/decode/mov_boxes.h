// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "decode/byte_source.h"

namespace veravox {

// What a MOV, MP4 or M4A file that starts at `begin` lacks, and what it holds, in sentences; empty if it has
// its index, as a whole.
std::string MissingMovIndex(ByteSource& source, uint64_t begin);

}  // namespace veravox
