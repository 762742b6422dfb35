// SPDX-License-Identifier: Apache-2.0
#include "resample/kaiser_low_pass.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace veravox {
namespace {

constexpr double kPi = std::numbers::pi;

// Modified Bessel function of the first kind and order 0, as a function of q = (x / 2)^2: the sum of q^k /
// k!^2. Tables of tens of thousands of coefficients are made per stream, and a fixed polynomial over an array
// vectorises. For the attenuations in use q stays below 40, where 24 terms are exact to 1e-11.
constexpr int kTerms = 24;

void BesselI0(std::span<const double> q, std::span<double> result) {
  std::fill(result.begin(), result.end(), 1.0);
  for (int k = kTerms; k > 0; --k) {
    const double factor = 1.0 / (k * k);
    for (size_t i = 0; i < q.size(); ++i) result[i] = 1.0 + q[i] * factor * result[i];
  }
}

}  // namespace

// Kaiser's empirical formulas for the shape and the length of his window.
KaiserLowPass::KaiserLowPass(double pass, double stop, double attenuation_db)
    : cutoff_(pass + stop), half_width_(0.5 * (attenuation_db - 7.95) / (2.285 * 2.0 * kPi * (stop - pass))) {
  const double shape = 0.1102 * (attenuation_db - 8.7);
  bessel_argument_ = 0.25 * shape * shape;
  BesselI0({&bessel_argument_, 1}, {&peak_, 1});
}

void KaiserLowPass::Sample(double first_time, double step, std::span<double> response) const {
  constexpr size_t kChunk = 64;
  std::array<double, kChunk> argument;
  std::array<double, kChunk> window;
  const double turn_sine = std::sin(kPi * cutoff_ * step);
  const double turn_cosine = std::cos(kPi * cutoff_ * step);
  for (size_t first = 0; first < response.size(); first += kChunk) {
    const size_t count = std::min(kChunk, response.size() - first);
    for (size_t i = 0; i < count; ++i) {
      const double place = (first_time - step * static_cast<double>(first + i)) / half_width_;
      argument[i] = bessel_argument_ * std::max(0.0, 1.0 - place * place);
    }
    BesselI0({argument.data(), count}, {window.data(), count});
    // sin(a - b) from sin(a) and cos(a), anew for each chunk so that no error builds up.
    const double chunk_time = first_time - step * static_cast<double>(first);
    double sine = std::sin(kPi * cutoff_ * chunk_time);
    double cosine = std::cos(kPi * cutoff_ * chunk_time);
    for (size_t i = 0; i < count; ++i) {
      const double time = chunk_time - step * static_cast<double>(i);
      const double ideal = std::abs(time) < 1e-9 ? cutoff_ : sine / (kPi * time);
      response[first + i] = std::abs(time) > half_width_ ? 0.0 : ideal * window[i] / peak_;
      const double next_sine = sine * turn_cosine - cosine * turn_sine;
      cosine = cosine * turn_cosine + sine * turn_sine;
      sine = next_sine;
    }
  }
}

}  // namespace veravox
