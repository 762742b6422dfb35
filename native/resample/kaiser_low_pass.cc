// SPDX-License-Identifier: Apache-2.0
#include "resample/kaiser_low_pass.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace veravox {
namespace {

constexpr double kPi = std::numbers::pi;

// Coefficients are computed this many at a time, which the compiler keeps in registers.
constexpr size_t kAtOnce = 8;

// Modified Bessel function of the first kind and order 0, as a function of q = (x / 2)^2: the sum of q^k /
// k!^2. For the attenuations in use q stays below 40, where 24 terms are exact to 1e-11. Each stream makes
// tables of tens of thousands of coefficients, hence no library function.
std::array<double, kAtOnce> BesselI0(const std::array<double, kAtOnce>& q) {
  constexpr int kTerms = 18;
  std::array<double, kAtOnce> sum;
  sum.fill(1.0);
  for (int k = kTerms; k > 0; --k) {
    const double factor = 1.0 / (k * k);
    for (size_t i = 0; i < kAtOnce; ++i) sum[i] = 1.0 + (q[i] * factor) * sum[i];
  }
  return sum;
}

}  // namespace

// Kaiser's empirical formulas for the shape and the length of his window.
KaiserLowPass::KaiserLowPass(double pass, double stop, double attenuation_db)
    : cutoff_(pass + stop), half_width_(0.5 * (attenuation_db - 7.95) / (2.285 * 2.0 * kPi * (stop - pass))) {
  const double shape = 0.1102 * (attenuation_db - 8.7);
  bessel_argument_ = 0.25 * shape * shape;
  peak_ = BesselI0({bessel_argument_})[0];
}

void KaiserLowPass::Sample(double first_time, double step, std::span<double> response) const {
  const double turn_sine = std::sin(kPi * cutoff_ * step);
  const double turn_cosine = std::cos(kPi * cutoff_ * step);
  double sine = std::sin(kPi * cutoff_ * first_time);
  double cosine = std::cos(kPi * cutoff_ * first_time);
  for (size_t first = 0; first < response.size(); first += kAtOnce) {
    std::array<double, kAtOnce> time;
    std::array<double, kAtOnce> argument;
    for (size_t i = 0; i < kAtOnce; ++i) {
      time[i] = first_time - step * static_cast<double>(first + i);
      const double place = time[i] / half_width_;
      argument[i] = bessel_argument_ * std::max(0.0, 1.0 - place * place);
    }
    const std::array<double, kAtOnce> window = BesselI0(argument);
    for (size_t i = 0; i < std::min(kAtOnce, response.size() - first); ++i) {
      const double ideal = std::abs(time[i]) < 1e-9 ? cutoff_ : sine / (kPi * time[i]);
      response[first + i] = std::abs(time[i]) > half_width_ ? 0.0 : ideal * window[i] / peak_;
      // sin(a - b) and cos(a - b): the error of some hundred such turns is far below float's.
      const double next_sine = sine * turn_cosine - cosine * turn_sine;
      cosine = cosine * turn_cosine + sine * turn_sine;
      sine = next_sine;
    }
  }
}

}  // namespace veravox
