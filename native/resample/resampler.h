// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "saved_state.h"
#include "simd/simd_level.h"

namespace veravox {

// Streaming sample-rate conversion of one channel. Not thread-safe.
//
// Flat within 0.1 dB up to 0.9 of the lower rate's highest frequency and at least 100 dB down from that
// frequency on: to 16 kHz, flat up to 7.2 kHz and nothing from 8 kHz on. Upwards, images are attenuated as
// much. The output is aligned with the input (no delay), n input samples give ceil(n * output / input) output
// samples after Finish, and the cut of the input into blocks changes no bit. Equal rates copy.
//
// Making one takes up to a millisecond (tables), so keep it for the next stream of the same rate.
//
// Why not libswresample: its default filter lets 8 kHz through at -15 dB, and as steep as here it takes 1.6
// to 3 times as long (the bench libav_comparison of commit ad73034).
class Resampler {
 public:
  // Rates of 1000 to 768000 Hz; others throw StageError (kSampleRateOutOfRange). the processor supports
  // `level`.
  Resampler(int input_rate_hz, int output_rate_hz, SimdLevel level = BestSimdLevel());
  ~Resampler();
  Resampler(const Resampler&) = delete;
  Resampler& operator=(const Resampler&) = delete;

  // Appends all samples that can be computed so far. Blocks may have any size, zero included.
  void Push(std::span<const float> input, std::vector<float>& output);
  // Appends the rest and makes the object ready for the next stream.
  void Finish(std::vector<float>& output);
  // A state that is read continues another object's stream at the same rates.
  void Transfer(SavedState& state);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace veravox
