// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace veravox {

// A low-pass filter: the ideal one's impulse response under a Kaiser window. Time is counted in input
// samples, frequency in cycles per input sample.
class KaiserLowPass {
 public:
  // Flat up to `pass`, at least attenuation_db down from `stop` on.
  KaiserLowPass(double pass, double stop, double attenuation_db);

  // The impulse response is zero beyond this distance from its centre.
  double half_width() const { return half_width_; }
  // The (even) number of samples that a response at any position between two samples can weigh.
  int64_t Taps() const { return 2 * static_cast<int64_t>(std::ceil(half_width_)); }

  // Writes the response at first_time, first_time - step, first_time - 2 * step, ...
  void Sample(double first_time, double step, std::span<double> response) const;

 private:
  double cutoff_;
  double half_width_;
  double bessel_argument_;  // a quarter of the window's squared shape parameter
  double peak_;             // of the unscaled window
};

}  // namespace veravox
