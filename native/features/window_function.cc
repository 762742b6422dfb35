// SPDX-License-Identifier: Apache-2.0
#include "features/window_function.h"

#include <cmath>
#include <numbers>

namespace veravox {

std::vector<double> MakeWindow(FeatureRecipe::Window window, int length, bool periodic) {
  std::vector<double> coefficients(static_cast<size_t>(length), 1.0);
  const int period = periodic ? length : length - 1;
  if (period == 0 || window == FeatureRecipe::Window::kRectangular) return coefficients;
  for (int i = 0; i < length; ++i) {
    const double cosine = std::cos(2.0 * std::numbers::pi * i / period);
    const double hann = 0.5 - 0.5 * cosine;
    switch (window) {
      case FeatureRecipe::Window::kHann:
        coefficients[i] = hann;
        break;
      case FeatureRecipe::Window::kHamming:
        coefficients[i] = 0.54 - 0.46 * cosine;
        break;
      case FeatureRecipe::Window::kPovey:
        coefficients[i] = std::pow(hann, 0.85);
        break;
      case FeatureRecipe::Window::kRectangular:
        break;
    }
  }
  return coefficients;
}

}  // namespace veravox
