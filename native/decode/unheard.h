// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace veravox {

// Bytes that most likely hold audio but were not decoded.
struct Unheard {
  int64_t bytes = 0;
  double at_s = 0.0;     // their time in the recording
  std::string what;      // ends a sentence: "a WAV file with another sample rate"
  double until_s = 0.0;  // of a track, which lasts: infinite up to the end of the recording
};

// The length that a container states, if it holds less.
struct StatedLength {
  std::optional<double> stated_s;  // absent if the file only lacks its end mark
  double found_s = 0.0;
};

}  // namespace veravox
