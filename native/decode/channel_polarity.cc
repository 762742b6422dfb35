// SPDX-License-Identifier: Apache-2.0
#include "decode/channel_polarity.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace veravox {
namespace {

// Two channels cancel each other if their sum has less than this share of the power that the sum of unrelated
// sounds would have. Channels with sounds of their own stay far above it.
constexpr double kCancelledShare = 0.3;

}  // namespace

void ChannelPolarity::Reset(size_t channels) {
  channels_ = channels;
  before_.assign(channels, 0.0f);
  steps_.assign(channels * kSteps, 0.0f);
  run_position_ = 0;
  products_.assign(channels * channels, 0.0);
  products_before_ = products_;
  block_runs_ = 0;
  may_turn_ = true;
  has_begun_ = has_turned_ = false;
  order_.resize(channels);
  found_.assign(channels, 1.0f);
  signs_ = signs_before_ = found_;
}

void ChannelPolarity::Multiply(size_t steps) {
  for (size_t a = 0; a < channels_; ++a) {
    const float* steps_a = &steps_[a * kSteps];
    for (size_t b = a; b < channels_; ++b) {
      const float* steps_b = &steps_[b * kSteps];
      float sum = 0.0f;
      for (size_t i = 0; i < steps; ++i) sum += steps_a[i] * steps_b[i];
      products_[a * channels_ + b] += sum;
    }
  }
}

// A new block may begin with other signs, and they may change once within it. More changes would chop up the
// voice.
void ChannelPolarity::Decide() {
  const bool is_first = block_runs_ == 0;
  signs_before_ = signs_;
  if (is_first || may_turn_) {
    FindSigns();
    if (found_ != signs_) may_turn_ = is_first;
    signs_ = found_;
  }
  has_turned_ = has_turned_ || std::ranges::find(signs_, -1.0f) != signs_.end();
  if (!std::exchange(has_begun_, true)) signs_before_ = signs_;
}

void ChannelPolarity::Advance(size_t samples) {
  run_position_ += samples;
  if (run_position_ < kRunSamples) return;
  run_position_ = 0;
  if (++block_runs_ < kBlockRuns) return;
  std::swap(products_before_, products_);
  std::fill(products_.begin(), products_.end(), 0.0);
  block_runs_ = 0;
  may_turn_ = true;
}

bool ChannelPolarity::Cancel(size_t a, size_t b) const {
  const double apart = Product(a, a) + Product(b, b);
  return apart + 2.0 * Product(a, b) < kCancelledShare * apart;
}

// From the loudest channel to the faintest, each takes its sign from the earlier channel that it correlates
// with most. The first channel keeps its own sign.
void ChannelPolarity::FindSigns() {
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](size_t a, size_t b) { return Product(a, a) > Product(b, b); });
  for (size_t i = 0; i < channels_; ++i) {
    const size_t channel = order_[i];
    found_[channel] = 1.0f;
    if (i == 0) continue;
    const auto closest = std::max_element(
        order_.begin(), order_.begin() + static_cast<ptrdiff_t>(i),
        [&](size_t a, size_t b) { return std::abs(Product(a, channel)) < std::abs(Product(b, channel)); });
    found_[channel] = Cancel(*closest, channel) ? -found_[*closest] : found_[*closest];
  }
  if (found_[0] > 0.0f) return;
  for (float& sign : found_) sign = -sign;
}

}  // namespace veravox
