// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/byte_source.h"
#include "decode/spliced_source.h"

namespace veravox {

// Whether frames of MPEG audio or FLAC stand in what claims to be a tag. Players decode them, unless the tag
// stands at the beginning of the file.
bool HoldsFrames(ByteSource& source, const ByteRange& range);

}  // namespace veravox
