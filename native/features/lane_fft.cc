// SPDX-License-Identifier: Apache-2.0
#include "features/lane_fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace veravox {
namespace {

LaneFftPlan::Factor RootOfUnity(int turn, int size) {
  const double angle = -2.0 * std::numbers::pi * turn / size;
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

// Radix 4 comes last, in the stages with few trivial twiddles.
std::vector<int> Factorise(int size) {
  std::vector<int> radices;
  int fours = 0;
  while (size % 4 == 0) {
    ++fours;
    size /= 4;
  }
  for (int prime = 2; size > 1; ++prime) {
    if (prime * prime > size) prime = size;
    while (size % prime == 0) {
      radices.push_back(prime);
      size /= prime;
    }
  }
  radices.insert(radices.end(), static_cast<size_t>(fours), 4);
  return radices;
}

}  // namespace

LaneFftPlan::LaneFftPlan(int transform_size) : size(transform_size) {
  input_position.assign(static_cast<size_t>(size), 0);
  int stride = 1;
  for (const int radix : Factorise(size)) {
    stages.push_back({radix, stride, static_cast<int>(twiddles.size()), static_cast<int>(roots.size())});
    largest_radix = std::max(largest_radix, radix);
    for (int j = 0; j < stride; ++j) {
      for (int q = 1; q < radix; ++q) twiddles.push_back(RootOfUnity(j * q, stride * radix));
    }
    if (radix != 2 && radix != 4) {
      for (int turn = 0; turn < radix; ++turn) roots.push_back(RootOfUnity(turn, radix));
    }
    stride *= radix;
  }
  // The last stage splits by the index's remainder, the one before it splits the quotient, and so on.
  for (int i = 0; i < size; ++i) {
    int index = i;
    for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
      input_position[i] += index % stage->radix * stage->stride;
      index /= stage->radix;
    }
  }
}

}  // namespace veravox
