// SPDX-License-Identifier: Apache-2.0
#include "features/mean_spectrum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "features/quarter_frames.h"
#include "features/running_median.h"

namespace veravox {
namespace {

constexpr float kPowerFloor = 1e-9f;     // below the noise of 16 bits
constexpr float kVarianceFloor = 1e-6f;  // far below that of any noise
constexpr size_t kDecile = 10;           // one frame in ten is quieter than the second curve
constexpr size_t kThird = 3;             // one frame in three is among the loudest
constexpr size_t kLevelCurves = 7;       // the first curves, less their running median
static_assert(kLevelCurves <= kMedianCurves);
constexpr size_t kPeaks = 9, kDips = 10, kSlope = 11;  // the curves that compare neighbours

FeatureRecipe LongFrames(int fft_size, float input_gain, size_t first_bin) {
  FeatureRecipe recipe = QuarterFrames(fft_size, input_gain);
  recipe.first_bin = static_cast<int>(first_bin);
  recipe.bands = fft_size / 2 - recipe.first_bin;
  recipe.log_floor = kPowerFloor;
  recipe.layout = FeatureRecipe::Layout::kFramesBands;
  return recipe;
}

using Block = MeanSpectrum::Block;
using Curves = MeanSpectrum::Curves;
using Frame = MeanSpectrum::Frame;
using Row = MeanSpectrum::Row;
using Scratch = MeanSpectrum::Scratch;
constexpr size_t kBlock = MeanSpectrum::kBlock;
constexpr size_t kNeighbours = MeanSpectrum::kNeighbours;

float TotalOf(std::span<const float> levels) {
  Block totals{};
  for (; levels.size() >= kBlock; levels = levels.subspan(kBlock)) {
    for (size_t i = 0; i < kBlock; ++i) totals[i] += levels[i];
  }
  return std::accumulate(levels.begin(), levels.end(), std::accumulate(totals.begin(), totals.end(), 0.0f));
}

// Measured relative to the first frame, so that the mean of equal levels is exactly that level.
VERAVOX_INLINE Block MeanOver(std::span<const Frame> frames, const std::vector<Row>& rows) {
  const Row& first = rows[frames.front().index];
  Block mean{};
  for (const Frame& frame : frames) {
    const Row& row = rows[frame.index];
    for (size_t i = 0; i < kBlock; ++i) mean[i] += row[kNeighbours + i] - first[kNeighbours + i];
  }
  const float inverse = 1.0f / static_cast<float>(frames.size());
  for (size_t i = 0; i < kBlock; ++i) mean[i] = first[kNeighbours + i] + mean[i] * inverse;
  return mean;
}

// Inserts a level of each bin into the sorted levels kept so far; the largest is dropped.
VERAVOX_INLINE void Insert(Block level, std::vector<Block>& kept) {
  for (Block& block : kept) {
    for (size_t i = 0; i < level.size(); ++i) {
      const float larger = std::max(block[i], level[i]);
      block[i] = std::min(block[i], level[i]);
      level[i] = larger;
    }
  }
}

VERAVOX_INLINE void Order(Scratch& scratch, Block& quiet, Block& loud, Block& second) {
  const size_t frames = scratch.rows.size();
  const size_t rank = (frames - 1) / kDecile;
  const size_t second_rank = frames > 1 ? 1 : 0;
  Block none;
  none.fill(std::numeric_limits<float>::infinity());
  scratch.smallest.assign(rank + 1, none);
  scratch.negated_largest.assign(std::max(rank, second_rank) + 1, none);
  for (const Row& row : scratch.rows) {
    Block level;
    std::copy_n(row.begin() + kNeighbours, kBlock, level.begin());
    Insert(level, scratch.smallest);
    for (float& value : level) value = -value;
    Insert(level, scratch.negated_largest);
  }
  quiet = scratch.smallest[rank];
  for (size_t i = 0; i < kBlock; ++i) loud[i] = -scratch.negated_largest[rank][i];
  for (size_t i = 0; i < kBlock; ++i) second[i] = -scratch.negated_largest[second_rank][i];
}

VERAVOX_INLINE void Moments(const std::vector<Row>& rows, const Block& mean, Block& deviation,
                            Block& autocorrelation, Block& skewness) {
  Block squares{}, cubes{}, products{}, before{};  // the first frame has none before it
  for (const Row& row : rows) {
    for (size_t i = 0; i < kBlock; ++i) {
      const float difference = row[kNeighbours + i] - mean[i];
      squares[i] += difference * difference;
      cubes[i] += difference * difference * difference;
      products[i] += difference * before[i];
      before[i] = difference;
    }
  }
  const float inverse = 1.0f / static_cast<float>(rows.size());
  const float inverse_of_pairs = rows.size() > 1 ? 1.0f / static_cast<float>(rows.size() - 1) : 0.0f;
  for (size_t i = 0; i < kBlock; ++i) {
    const float variance = squares[i] * inverse;
    const float divisor = variance + kVarianceFloor;
    deviation[i] = std::sqrt(variance);
    autocorrelation[i] = products[i] * inverse_of_pairs / divisor;
    skewness[i] = cubes[i] * inverse / (divisor * std::sqrt(divisor));
  }
}

// The neighbours are written out: the compiler does not vectorise a loop over them.
VERAVOX_INLINE void CompareNeighbours(const std::vector<Row>& rows, Block& peaks, Block& dips, Block& slope) {
  Block larger{}, smaller{}, differences{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < kBlock; ++i) {
      const float* const at = &row[kNeighbours + i];
      float largest = std::max(at[-1], at[1]), smallest = std::min(at[-1], at[1]);
      largest = std::max(largest, std::max(at[-2], at[2]));
      smallest = std::min(smallest, std::min(at[-2], at[2]));
      largest = std::max(largest, std::max(at[-3], at[3]));
      smallest = std::min(smallest, std::min(at[-3], at[3]));
      larger[i] += at[0] > largest ? 1.0f : 0.0f;
      smaller[i] += at[0] < smallest ? 1.0f : 0.0f;
      differences[i] += std::abs(at[1] - at[0]);
    }
  }
  const float inverse = 1.0f / static_cast<float>(rows.size());
  for (size_t i = 0; i < kBlock; ++i) {
    peaks[i] = larger[i] * inverse;
    dips[i] = smaller[i] * inverse;
    slope[i] = differences[i] * inverse;
  }
}

// The curves of a block of bins; `levels` are those of the first frame, `bins` before those of the next. Bin
// by bin would be simpler, but this handles a whole register of bins at once. Rows are copied first: mostly a
// power of two apart, they would evict each other from the cache.
VERAVOX_INLINE void Summarise(const float* levels, size_t bins, std::span<const Frame> by_loudness,
                              Scratch& scratch, Curves& curves) {
  scratch.rows.resize(by_loudness.size());
  for (size_t t = 0; t < scratch.rows.size(); ++t) {
    std::copy_n(levels + t * bins - kNeighbours, scratch.rows[t].size(), scratch.rows[t].begin());
  }
  auto& [mean, quiet, loud, deviation, mean_of_loudest, mean_of_quietest, second, autocorrelation, skewness,
         peaks, dips, slope] = curves;
  const size_t third = std::max<size_t>(1, by_loudness.size() / kThird);
  mean = MeanOver(by_loudness, scratch.rows);
  mean_of_loudest = MeanOver(by_loudness.last(third), scratch.rows);
  mean_of_quietest = MeanOver(by_loudness.first(third), scratch.rows);
  Order(scratch, quiet, loud, second);
  Moments(scratch.rows, mean, deviation, autocorrelation, skewness);
  CompareNeighbours(scratch.rows, peaks, dips, slope);
}

void SummariseBaseline(const float* levels, size_t bins, std::span<const Frame> by_loudness, Scratch& scratch,
                       Curves& curves) {
  Summarise(levels, bins, by_loudness, scratch, curves);
}

VERAVOX_TARGET_AVX2 void SummariseAvx2(const float* levels, size_t bins, std::span<const Frame> by_loudness,
                                       Scratch& scratch, Curves& curves) {
  Summarise(levels, bins, by_loudness, scratch, curves);
}

// AVX-512 has 32 registers, AVX2 16: ordering the levels needs more than 16.
VERAVOX_TARGET_AVX512 void SummariseAvx512(const float* levels, size_t bins,
                                           std::span<const Frame> by_loudness, Scratch& scratch,
                                           Curves& curves) {
  Summarise(levels, bins, by_loudness, scratch, curves);
}

auto SummariseFor(SimdLevel level) {
  switch (level) {
    case SimdLevel::kAvx512:
      return SummariseAvx512;
    case SimdLevel::kAvx2:
      return SummariseAvx2;
    case SimdLevel::kBaseline:
      break;
  }
  return SummariseBaseline;
}

}  // namespace

MeanSpectrum::MeanSpectrum(int fft_size, float input_gain, size_t first_bin, SimdLevel level)
    : fft_size_(static_cast<size_t>(fft_size)),
      first_bin_(first_bin),
      bins_(fft_size_ / 2 - first_bin),
      spectrogram_(Spectrogram::Make(LongFrames(fft_size, input_gain, first_bin), level)),
      level_(level),
      summarise_(SummariseFor(level)),
      curves_(kCurves * bins_) {}

void MeanSpectrum::Compute(std::span<const float> samples, std::span<float> output) {
  samples = RepeatedTo(fft_size_, samples, repeated_);
  const size_t frames = spectrogram_->FrameCount(samples.size());
  // Blocks are read whole, with neighbours; values beyond the bins enter no curve.
  levels_.resize(kNeighbours + frames * bins_ + kBlock + kNeighbours);
  const std::span<float> levels = std::span(levels_).subspan(kNeighbours, frames * bins_);
  spectrogram_->Compute(samples, levels);
  by_loudness_.clear();
  for (size_t t = 0; t < frames; ++t) by_loudness_.push_back({TotalOf(levels.subspan(t * bins_, bins_)), t});
  // One broken sample affects every bin of its frames, and NaN has no order.
  if (!std::all_of(by_loudness_.begin(), by_loudness_.end(),
                   [](const Frame& frame) { return std::isfinite(frame.total); })) {
    std::fill(output.begin(), output.end(), std::numeric_limits<float>::quiet_NaN());
    return;
  }
  std::sort(by_loudness_.begin(), by_loudness_.end());
  for (size_t bin = 0; bin < bins_; bin += kBlock) {
    Curves made;
    summarise_(&levels[bin], bins_, by_loudness_, scratch_, made);
    for (size_t curve = 0; curve < kCurves; ++curve) {
      std::copy_n(made[curve].begin(), std::min(kBlock, bins_ - bin), &curves_[curve * bins_ + bin]);
    }
  }
  const auto curve_at = [&](size_t curve) { return std::span(curves_).subspan(curve * bins_, bins_); };
  // The outermost bins lack neighbours.
  for (const size_t curve : {kPeaks, kDips}) {
    std::ranges::fill(curve_at(curve).first(kNeighbours), 0.0f);
    std::ranges::fill(curve_at(curve).last(kNeighbours), 0.0f);
  }
  curve_at(kSlope).back() = 0.0f;
  const size_t levels_end = kLevelCurves * bins_;
  medians_subtracted_.resize(levels_end);
  SubtractMedians(std::span(curves_).first(levels_end), bins_, medians_subtracted_, level_);
  for (size_t curve = 0; curve < kCurves; ++curve) {
    const std::span<float> whole = output.subspan(curve * (first_bin_ + bins_), first_bin_ + bins_);
    const std::vector<float>& made = curve < kLevelCurves ? medians_subtracted_ : curves_;
    std::ranges::copy(std::span(made).subspan(curve * bins_, bins_), whole.subspan(first_bin_).begin());
    MirrorBelow(first_bin_, whole);
  }
}

}  // namespace veravox
