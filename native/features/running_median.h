// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace veravox {

// Writes `curve` less its running median over 33 values. It is mirrored at its ends, the outermost values
// included. `curve` has at least 16 values, all of which are numbers; `output` is as long.
void SubtractMedian(std::span<const float> curve, std::span<float> output);

}  // namespace veravox
