// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace veravox {

// Bytes of a file that most likely hold audio, but were not decoded.
struct Unheard {
  int64_t bytes = 0;
  double at_s = 0.0;  // the audio before them, in the time of the recording
  std::string what;   // ends a sentence: "a WAV file with another sample rate"
};

// What a container says of its length, where it holds less.
struct StatedLength {
  std::optional<double> stated_s;  // absent if it only lacks its own end
  double found_s = 0.0;
};

}  // namespace veravox
