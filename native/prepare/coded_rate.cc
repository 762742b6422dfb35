// SPDX-License-Identifier: Apache-2.0
#include "prepare/coded_rate.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace veravox {
namespace {

constexpr int64_t kStepSamples = 1600;
constexpr int64_t kStepsPerSecond = 10;
// Most samples between decoder and resampler output: far beyond the length of the filters, plus a fraction of
// a sample per change of rate.
constexpr double kLargestLagSamples = 1e6;

}  // namespace

void CodedRate::Add(double samples, double bits) {
  const double begin = std::exchange(end_, end_ + samples);
  const auto first = static_cast<int64_t>(begin / kStepSamples);
  const auto last = static_cast<int64_t>(std::ceil(end_ / kStepSamples));
  const auto steps = static_cast<size_t>(std::max<int64_t>(last - first_, 0));
  if (bits_.size() < steps) bits_.resize(steps);
  for (int64_t step = std::max(first, first_); step < last; ++step) {
    const double from = std::max(static_cast<double>(step * kStepSamples), begin);
    const double to = std::min(static_cast<double>((step + 1) * kStepSamples), end_);
    bits_[static_cast<size_t>(step - first_)] += bits * (to - from) / samples;
  }
}

double CodedRate::At(int64_t step) const {
  const int64_t index = step - first_;
  return index >= 0 && index < static_cast<int64_t>(bits_.size()) ? bits_[static_cast<size_t>(index)] : 0.0;
}

double CodedRate::BusiestSecond(const SampleRange& window) const {
  const int64_t first = window.begin / kStepSamples;
  const int64_t last = (window.end + kStepSamples - 1) / kStepSamples;
  const int64_t steps = std::min(last - first, kStepsPerSecond);
  if (steps <= 0) return 0.0;
  double busiest = 0.0;
  for (int64_t begin = first; begin + steps <= last; ++begin) {
    double bits = 0.0;
    for (int64_t step = begin; step < begin + steps; ++step) bits += At(step);
    busiest = std::max(busiest, bits);
  }
  return busiest * static_cast<double>(kStepsPerSecond) / static_cast<double>(steps);
}

void CodedRate::DropBefore(int64_t sample) {
  const int64_t step = sample / kStepSamples;
  const int64_t dropped = std::clamp(step - first_, int64_t{0}, static_cast<int64_t>(bits_.size()));
  bits_.erase(bits_.begin(), bits_.begin() + dropped);
  first_ = std::max(first_, step);
}

void CodedRate::Transfer(SavedState& state, int64_t sample) {
  std::vector<double> kept;
  const int64_t first = sample / kStepSamples;
  const auto end = first_ + static_cast<int64_t>(bits_.size());
  if (!state.is_read()) {
    for (int64_t step = first; step < end; ++step) kept.push_back(At(step));
  }
  state.Transfer(kept);
  state.Transfer(end_);
  if (!state.is_read()) return;
  state.Require(end_ >= 0.0 && std::abs(end_ - static_cast<double>(sample)) <= kLargestLagSamples);
  for (const double bits : kept) state.Require(std::isfinite(bits) && bits >= 0.0);
  bits_ = std::move(kept);
  first_ = first;
}

void CodedRate::Clear() {
  bits_.clear();
  first_ = 0;
  end_ = 0.0;
}

}  // namespace veravox
