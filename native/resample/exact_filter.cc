// SPDX-License-Identifier: Apache-2.0
#include "resample/exact_filter.h"

#include <numeric>

#include "simd/lanes.h"

namespace veravox {
namespace {

constexpr int kOutputs = 8;  // outputs of a group

// In floats: the size of the second-level cache. All common rates stay far below it.
constexpr int64_t kLargestTable = int64_t{1} << 18;

int64_t GroupCount(int64_t up) { return up / std::gcd(up, int64_t{kOutputs}); }

int64_t GroupTaps(PolyphaseFilter::Ratio ratio, int64_t taps, int64_t multiple) {
  const int64_t furthest_shift = (kOutputs - 1) * ratio.down / ratio.up + 1;
  return (taps + furthest_shift + multiple - 1) / multiple * multiple;
}

template <int kLanes>
VERAVOX_INLINE void FilterGroup(const float* samples, std::span<const ExactFilter::TapBlock> weights,
                                float* output) {
  using Vector = typename LaneTypes<kLanes>::Float;
  constexpr int kBlock = sizeof(ExactFilter::TapBlock) / sizeof(float);
  Vector sums[kOutputs];
  for (Vector& sum : sums) sum = Vector{};  // GCC clears an array as a whole with a slow string instruction
  for (size_t block = 0; block < weights.size(); block += kOutputs, samples += kBlock) {
    for (int part = 0; part < kBlock; part += kLanes) {
      const Vector x = LoadLanes<kLanes>(samples + part);
      for (int row = 0; row < kOutputs; ++row) {
        sums[row] += x * LoadLanes<kLanes>(weights[block + row].taps + part);
      }
    }
  }
  for (int first = 0; first < kOutputs; first += kLanes) {
    StoreLanes<kLanes>(SumEachRow<kLanes>(sums + first), output + first);
  }
}

}  // namespace

bool ExactFilter::Suits(Ratio ratio, const KaiserLowPass& low_pass) {
  return GroupCount(ratio.up) * kOutputs * GroupTaps(ratio, low_pass.Taps(), kBlock) <= kLargestTable;
}

ExactFilter::ExactFilter(Ratio ratio, const KaiserLowPass& low_pass, int64_t first_input, SimdLevel level)
    : PolyphaseFilter(ratio, low_pass, first_input, level),
      group_taps_(static_cast<size_t>(GroupTaps(ratio, taps_, kBlock))) {
  const std::vector<float> weights = PhaseWeights(ratio.up);
  const int64_t groups = GroupCount(ratio.up);
  table_.resize(static_cast<size_t>(groups) * kOutputs * group_taps_ / kBlock);
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t start = group * kOutputs * ratio.down / ratio.up;
    TapBlock* blocks = &table_[static_cast<size_t>(group) * kOutputs * group_taps_ / kBlock];
    for (int64_t row = 0; row < kOutputs; ++row) {
      const int64_t position = (group * kOutputs + row) * ratio.down;
      const int64_t shift = position / ratio.up - start;
      const float* phase_weights = &weights[static_cast<size_t>(position % ratio.up * taps_)];
      for (int64_t tap = 0; tap < taps_; ++tap) {
        const int64_t place = tap + shift;
        blocks[place / kBlock * kOutputs + row].taps[place % kBlock] = phase_weights[tap];
      }
    }
    advances_.push_back(static_cast<size_t>((group + 1) * kOutputs * ratio.down / ratio.up - start));
  }
}

// The loop is inside the function compiled for the level, so that groups overlap in the processor's pipeline.
template <int kLanes>
VERAVOX_INLINE size_t ExactFilter::FilterGroups(float* output) {
  const size_t group_blocks = kOutputs * group_taps_ / kBlock;
  size_t outputs = 0;
  while (next_ + group_taps_ <= input_.size()) {
    FilterGroup<kLanes>(&input_[next_], {&table_[group_ * group_blocks], group_blocks}, output + outputs);
    outputs += kOutputs;
    next_ += advances_[group_];
    group_ = group_ + 1 == advances_.size() ? 0 : group_ + 1;
  }
  return outputs;
}

size_t ExactFilter::FilterBaseline(float* output) { return FilterGroups<4>(output); }
VERAVOX_TARGET_AVX2 size_t ExactFilter::FilterAvx2(float* output) { return FilterGroups<8>(output); }

}  // namespace veravox
