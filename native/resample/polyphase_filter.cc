// SPDX-License-Identifier: Apache-2.0
#include "resample/polyphase_filter.h"

#include <algorithm>
#include <cmath>

#include "resample/exact_filter.h"
#include "resample/interpolated_filter.h"

namespace veravox {

std::unique_ptr<PolyphaseFilter> PolyphaseFilter::Make(Ratio ratio, const KaiserLowPass& low_pass,
                                                       int64_t first_input, SimdLevel level) {
  if (ExactFilter::Suits(ratio, low_pass)) {
    return std::make_unique<ExactFilter>(ratio, low_pass, first_input, level);
  }
  return std::make_unique<InterpolatedFilter>(ratio, low_pass, first_input, level);
}

PolyphaseFilter::PolyphaseFilter(Ratio ratio, const KaiserLowPass& low_pass, int64_t first_input,
                                 SimdLevel level)
    : ratio_(ratio),
      taps_(low_pass.Taps()),
      low_pass_(low_pass),
      level_(level),
      silence_(taps_ / 2 - 1 + first_input) {
  Start();
}

void PolyphaseFilter::Reset() {
  Start();
  Rewind();
}

void PolyphaseFilter::Transfer(SavedState& state) {
  state.Transfer(input_);
  auto next = static_cast<uint64_t>(next_);
  state.Transfer(next);
  // An output never starts further ahead than a whole table of phases goes.
  state.Require(next <= input_.size() + (uint64_t{1} << 32));
  next_ = static_cast<size_t>(next);
  TransferPhase(state);
}

void PolyphaseFilter::Start() {
  // An earlier stage may start further back than the first output reaches; those samples are skipped.
  input_.assign(static_cast<size_t>(std::max<int64_t>(silence_, 0)), 0.0f);
  next_ = static_cast<size_t>(std::max<int64_t>(-silence_, 0));
}

std::vector<float> PolyphaseFilter::PhaseWeights(int64_t phases) const {
  const auto taps = static_cast<size_t>(taps_);
  std::vector<float> weights(static_cast<size_t>(phases + 1) * taps);
  std::vector<double> row(taps);
  // The filter is symmetric: a phase's weights are its complement's, mirrored.
  for (int64_t phase = 0; 2 * phase <= phases; ++phase) {
    low_pass_.Sample(
        static_cast<double>(phase) / static_cast<double>(phases) + static_cast<double>(taps_ / 2 - 1), 1.0,
        row);
    std::copy(row.begin(), row.end(), weights.begin() + phase * taps_);
    std::copy(row.rbegin(), row.rend(), weights.begin() + (phases - phase) * taps_);
  }
  return weights;
}

size_t PolyphaseFilter::OutputBound() const {
  if (input_.size() <= next_) return 0;
  const auto samples = static_cast<int64_t>(input_.size() - next_);
  return static_cast<size_t>((samples * ratio_.up / ratio_.down / kBlock + 2) * kBlock);
}

void PolyphaseFilter::Push(std::span<const float> input, std::vector<float>& output) {
  input_.insert(input_.end(), input.begin(), input.end());
  const size_t before = output.size();
  output.resize(before + OutputBound());
  float* const start = output.data() + before;
  output.resize(before + (level_ == SimdLevel::kBaseline ? FilterBaseline(start) : FilterAvx2(start)));
  const size_t used = std::min(next_, input_.size());
  input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(used));
  next_ -= used;
}

}  // namespace veravox
