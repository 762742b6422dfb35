// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/byte_source.h"
#include "decode/spliced_source.h"

namespace veravox {

// Whether a range that claims to be a tag holds frames of MPEG audio or FLAC. Players decode them, unless the
// tag is at the beginning of the file.
bool HoldsFrames(ByteSource& source, const ByteRange& range);

}  // namespace veravox
