// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace veravox {

// Streaming sample-rate conversion of one channel. Not thread-safe.
//
// Going down to 16 kHz: flat within 0.1 dB up to 7.2 kHz, at least 100 dB down from 8 kHz on. The output is
// aligned with the input (no delay), and n input samples give ceil(n * output / input) output samples once
// Finish was called.
class Resampler {
 public:
  Resampler(int input_rate_hz, int output_rate_hz);
  ~Resampler();
  Resampler(const Resampler&) = delete;
  Resampler& operator=(const Resampler&) = delete;

  // Appends to `output` what can be computed by now. Blocks may be of any size, zero included.
  void Push(std::span<const float> input, std::vector<float>& output);
  // Appends the rest and makes the object ready for the next stream.
  void Finish(std::vector<float>& output);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace veravox
