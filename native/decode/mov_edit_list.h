// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace veravox {

// Whether a MOV or MP4 file may hold an edit list that is too long to be honest. libavformat applies edit
// lists while it opens a file, in a loop that asks nobody whether to go on: 100,000 edits in 1.2 MB keep it
// busy for seconds beyond any deadline. Audio has one to three edits, cut with an editor perhaps dozens.
//
// Looks for the box's name anywhere, as libavformat finds the box at any depth of nesting. Where it stands in
// other data by chance, the caller leaves the edit list out, which costs no more than the exact trimming of
// the encoder's delay.
bool HasHostileEditList(std::span<const uint8_t> bytes);

}  // namespace veravox
