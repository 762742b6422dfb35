// SPDX-License-Identifier: Apache-2.0
#include "features/phase_coherence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "features/quarter_frames.h"
#include "features/spectrogram_kernel.h"

namespace veravox {
namespace {

constexpr size_t kFarStep = kHopsPerFrame;  // step of the widest product, in hops
constexpr size_t kLeastFrames = 2 * kFarStep + 1;
// Of a bin with the noise of 16 bits and dither, at the level of a window. Below it, phases fade to 0: in
// bands that a codec left empty, they would be those of the rounding, and another converter would change the
// verdict.
constexpr float kMagnitudeFloor = 3e-4f;

FeatureRecipe Frames(int fft_size, float input_gain) {
  FeatureRecipe recipe = QuarterFrames(fft_size, input_gain);
  recipe.bands = 1;  // the plan's bands are not used
  return recipe;
}

// kLanes neighbouring bins of a frame.
template <int kLanes>
struct Bins {
  LaneComplex<kLanes> phase;
  typename LaneTypes<kLanes>::Float weight;
};

// Phases of all frames, block by block; within a block, the same bins frame by frame. Two blocks make a pair,
// since the bins at half a pair's frequencies are one block; one more holds the neighbours of the last pair's
// bins. Values beyond bin fft_size / 2 are 0.
template <int kLanes>
struct Phases {
  VERAVOX_INLINE const Bins<kLanes>& At(size_t block, size_t frame) const {
    return values[block * frames + frame];
  }

  size_t frames;
  std::vector<Bins<kLanes>> values;
};

size_t BlocksOf(size_t bins, size_t lanes) { return (bins + 2 * lanes - 1) / (2 * lanes) * 2 + 1; }

template <int kLanes>
struct PhaseScratch {
  explicit PhaseScratch(const SpectrogramPlan& plan)
      : spectrogram(plan), bins(BlocksOf(static_cast<size_t>(plan.fft.size), kLanes) * kLanes) {}

  SpectrogramScratch<kLanes> spectrogram;
  // The lanes are frames here. Values beyond bin fft_size / 2 stay 0.
  std::vector<Bins<kLanes>> bins;
};

// Stores the first `used` lanes as the frames from `first` on.
template <int kLanes>
VERAVOX_INLINE void StoreFrames(const PhaseScratch<kLanes>& scratch, size_t first, size_t used,
                                Phases<kLanes>& phases) {
  using Vector = typename LaneTypes<kLanes>::Float;
  for (size_t block = 0; block < scratch.bins.size() / kLanes; ++block) {
    Vector re[kLanes], im[kLanes], weight[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      const Bins<kLanes>& bin = scratch.bins[block * kLanes + i];
      re[i] = bin.phase.re;
      im[i] = bin.phase.im;
      weight[i] = bin.weight;
    }
    TransposeLanes<kLanes>(re);
    TransposeLanes<kLanes>(im);
    TransposeLanes<kLanes>(weight);
    Bins<kLanes>* const output = &phases.values[block * phases.frames + first];
    for (size_t frame = 0; frame < used; ++frame) output[frame] = {{re[frame], im[frame]}, weight[frame]};
  }
}

// The phases of `used` of the kLanes frames that start at `frames[lane]`, as those from `first` on.
template <int kLanes>
VERAVOX_INLINE void PhasesOfFrames(const SpectrogramPlan& plan, const float* const* frames,
                                   PhaseScratch<kLanes>& scratch, size_t first, size_t used,
                                   Phases<kLanes>& phases) {
  using Vector = typename LaneTypes<kLanes>::Float;
  spectrogram_kernel::LoadFrames(plan, frames, scratch.spectrogram);
  TransformLanes(plan.fft, scratch.spectrogram.spectrum.data(), scratch.spectrogram.radix.data());
  const auto put = [&](int bin, const Vector& re, const Vector& im) __attribute__((always_inline)) {
    Vector magnitude = re * re + im * im;
    for (int lane = 0; lane < kLanes; ++lane) magnitude[lane] = std::sqrt(magnitude[lane]);
    magnitude += kMagnitudeFloor;
    const Vector inverse = 1.0f / magnitude;
    for (int lane = 0; lane < kLanes; ++lane) magnitude[lane] = std::sqrt(magnitude[lane]);
    scratch.bins[bin] = {{re * inverse, im * inverse}, magnitude};
  };
  spectrogram_kernel::SplitSpectrum<kLanes>(plan, scratch.spectrogram.spectrum.data(), put);
  StoreFrames(scratch, first, used, phases);
}

template <int kLanes>
using PhaseKernel = void (*)(const SpectrogramPlan&, const float* const* frames, PhaseScratch<kLanes>&,
                             size_t first, size_t used, Phases<kLanes>&);

void PhasesBaseline(const SpectrogramPlan& plan, const float* const* frames, PhaseScratch<4>& scratch,
                    size_t first, size_t used, Phases<4>& phases) {
  PhasesOfFrames(plan, frames, scratch, first, used, phases);
}

VERAVOX_TARGET_AVX2 void PhasesAvx2(const SpectrogramPlan& plan, const float* const* frames,
                                    PhaseScratch<8>& scratch, size_t first, size_t used, Phases<8>& phases) {
  PhasesOfFrames(plan, frames, scratch, first, used, phases);
}

VERAVOX_TARGET_AVX512 void PhasesAvx512(const SpectrogramPlan& plan, const float* const* frames,
                                        PhaseScratch<16>& scratch, size_t first, size_t used,
                                        Phases<16>& phases) {
  PhasesOfFrames(plan, frames, scratch, first, used, phases);
}

template <int kLanes, int kFirst, int kStep, int... kLane>
VERAVOX_INLINE Bins<kLanes> PickLanes(const Bins<kLanes>& lower, const Bins<kLanes>& upper,
                                      std::integer_sequence<int, kLane...>) {
  return {{__builtin_shufflevector(lower.phase.re, upper.phase.re, (kFirst + kStep * kLane)...),
           __builtin_shufflevector(lower.phase.im, upper.phase.im, (kFirst + kStep * kLane)...)},
          __builtin_shufflevector(lower.weight, upper.weight, (kFirst + kStep * kLane)...)};
}

// Every kStep-th bin of two neighbouring blocks, from their bin kFirst on.
template <int kLanes, int kFirst, int kStep>
VERAVOX_INLINE Bins<kLanes> Pick(const Bins<kLanes>& lower, const Bins<kLanes>& upper) {
  return PickLanes<kLanes, kFirst, kStep>(lower, upper, std::make_integer_sequence<int, kLanes>());
}

template <int kLanes>
VERAVOX_INLINE LaneComplex<kLanes> Over(const LaneComplex<kLanes>& a,
                                        const LaneComplex<kLanes>& b) {  // for |b| = 1
  return {a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
}

template <int kLanes>
VERAVOX_INLINE typename LaneTypes<kLanes>::Float SmallerWeight(const Bins<kLanes>& a, const Bins<kLanes>& b) {
  return a.weight < b.weight ? a.weight : b.weight;
}

template <int kLanes>
class WeightedMean {
 public:
  using Vector = typename LaneTypes<kLanes>::Float;

  VERAVOX_INLINE void Add(const LaneComplex<kLanes>& value, const Vector& weight) {
    sum_.re += weight * value.re;
    sum_.im += weight * value.im;
    total_ += weight;
  }

  // For the existing bins among `first`, `first + step` and so on; imaginary parts follow `bins` later.
  VERAVOX_INLINE void Store(size_t first, size_t step, size_t bins, float* output) const {
    const Vector re = sum_.re / total_, im = sum_.im / total_;
    for (size_t lane = 0; lane < kLanes && first + lane * step < bins; ++lane) {
      output[first + lane * step] = re[lane];
      output[bins + first + lane * step] = im[lane];
    }
  }

 private:
  LaneComplex<kLanes> sum_{};
  Vector total_{};
};

// The first two products: from hop to hop, and over a frame.
template <int kLanes>
VERAVOX_INLINE void AverageChanges(const Phases<kLanes>& phases, size_t block, size_t bins, float* near,
                                   float* far) {
  WeightedMean<kLanes> near_mean, far_mean;
  for (size_t t = 1; t + 1 < phases.frames; ++t) {
    const Bins<kLanes> here = phases.At(block, t);
    const LaneComplex<kLanes> squared = lane_fft::Multiply(here.phase, here.phase);
    const auto change = [&](size_t step) __attribute__((always_inline)) {
      return Over(lane_fft::Multiply(phases.At(block, t + step).phase, phases.At(block, t - step).phase),
                  squared);
    };
    near_mean.Add(change(1), here.weight);
    if (t >= kFarStep && t + kFarStep < phases.frames) far_mean.Add(change(kFarStep), here.weight);
  }
  near_mean.Store(block * kLanes, 1, bins, near);
  far_mean.Store(block * kLanes, 1, bins, far);
}

// The third and the fourth: the group delay and its change from hop to hop.
template <int kLanes>
VERAVOX_INLINE void AverageDelays(const Phases<kLanes>& phases, size_t block, size_t bins, float* delays,
                                  float* drifts) {
  WeightedMean<kLanes> delay_mean, drift_mean;
  LaneComplex<kLanes> before{};
  for (size_t t = 0; t < phases.frames; ++t) {
    const Bins<kLanes> here = phases.At(block, t);
    const Bins<kLanes> next = Pick<kLanes, 1, 1>(here, phases.At(block + 1, t));
    const LaneComplex<kLanes> delay = Over(next.phase, here.phase);
    const auto weight = SmallerWeight(here, next);
    delay_mean.Add(delay, weight);
    if (t > 0) drift_mean.Add(Over(delay, before), weight);
    before = delay;
  }
  delay_mean.Store(block * kLanes, 1, bins, delays);
  drift_mean.Store(block * kLanes, 1, bins, drifts);
}

// The fifth, for a pair of blocks. An even bin is compared with its half twice, an odd one with the two bins
// around its half.
template <int kLanes>
VERAVOX_INLINE void AverageHalves(const Phases<kLanes>& phases, size_t pair, size_t bins, float* output) {
  WeightedMean<kLanes> even_mean, odd_mean;
  for (size_t t = 0; t < phases.frames; ++t) {
    const Bins<kLanes> first = phases.At(2 * pair, t);
    const Bins<kLanes> second = phases.At(2 * pair + 1, t);
    const Bins<kLanes> even = Pick<kLanes, 0, 2>(first, second), odd = Pick<kLanes, 1, 2>(first, second);
    const Bins<kLanes> half = phases.At(pair, t);
    const Bins<kLanes> next = Pick<kLanes, 1, 1>(half, phases.At(pair + 1, t));
    even_mean.Add(Over(lane_fft::Multiply(half.phase, half.phase), even.phase), SmallerWeight(half, even));
    odd_mean.Add(Over(lane_fft::Multiply(half.phase, next.phase), odd.phase), SmallerWeight(half, odd));
  }
  even_mean.Store(2 * pair * kLanes, 2, bins, output);
  odd_mean.Store(2 * pair * kLanes + 1, 2, bins, output);
}

template <int kLanes>
VERAVOX_INLINE void AverageProducts(const Phases<kLanes>& phases, size_t bins, bool with_halves,
                                    float* output) {
  const size_t pairs = BlocksOf(bins, kLanes) / 2;
  for (size_t block = 0; block < 2 * pairs; ++block) {
    AverageChanges<kLanes>(phases, block, bins, output, output + 2 * bins);
    AverageDelays<kLanes>(phases, block, bins, output + 4 * bins, output + 6 * bins);
  }
  if (!with_halves) {
    std::fill_n(output + 8 * bins, 2 * bins, 0.0f);
    return;
  }
  for (size_t pair = 0; pair < pairs; ++pair) AverageHalves<kLanes>(phases, pair, bins, output + 8 * bins);
}

void AverageBaseline(const Phases<4>& phases, size_t bins, bool with_halves, float* output) {
  AverageProducts(phases, bins, with_halves, output);
}

VERAVOX_TARGET_AVX2 void AverageAvx2(const Phases<8>& phases, size_t bins, bool with_halves, float* output) {
  AverageProducts(phases, bins, with_halves, output);
}

VERAVOX_TARGET_AVX512 void AverageAvx512(const Phases<16>& phases, size_t bins, bool with_halves,
                                         float* output) {
  AverageProducts(phases, bins, with_halves, output);
}

template <int kLanes>
class LanePhaseCoherence final : public PhaseCoherence {
 public:
  using Averages = void (*)(const Phases<kLanes>&, size_t bins, bool with_halves, float* output);

  LanePhaseCoherence(const FeatureRecipe& frames, size_t first_bin, PhaseKernel<kLanes> kernel,
                     Averages averages)
      : PhaseCoherence(frames, first_bin), scratch_(plan_), kernel_(kernel), averages_(averages) {}

 private:
  void ComputeFrames(std::span<const float> samples, size_t hop, size_t frames,
                     std::span<float> output) override {
    phases_.frames = frames;
    phases_.values.resize(scratch_.bins.size() / kLanes * frames);
    for (size_t first = 0; first < frames; first += kLanes) {
      // Lanes without a frame of their own repeat the last frame.
      const float* starts[kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) {
        starts[lane] = samples.data() + std::min(first + lane, frames - 1) * hop;
      }
      kernel_(plan_, starts, scratch_, first, std::min<size_t>(kLanes, frames - first), phases_);
    }
    averages_(phases_, static_cast<size_t>(plan_.fft.size), first_bin_ == 0, output.data());
  }

  Phases<kLanes> phases_;
  PhaseScratch<kLanes> scratch_;
  PhaseKernel<kLanes> kernel_;
  Averages averages_;
};

}  // namespace

std::unique_ptr<PhaseCoherence> PhaseCoherence::Make(int fft_size, float input_gain, size_t first_bin,
                                                     SimdLevel level) {
  const FeatureRecipe frames = Frames(fft_size, input_gain);
  switch (level) {
    case SimdLevel::kAvx512:
      return std::make_unique<LanePhaseCoherence<16>>(frames, first_bin, PhasesAvx512, AverageAvx512);
    case SimdLevel::kAvx2:
      return std::make_unique<LanePhaseCoherence<8>>(frames, first_bin, PhasesAvx2, AverageAvx2);
    case SimdLevel::kBaseline:
      break;
  }
  return std::make_unique<LanePhaseCoherence<4>>(frames, first_bin, PhasesBaseline, AverageBaseline);
}

PhaseCoherence::PhaseCoherence(const FeatureRecipe& frames, size_t first_bin)
    : plan_(frames),
      first_bin_(first_bin),
      fft_size_(static_cast<size_t>(frames.fft_size)),
      bins_(fft_size_ / 2) {}

void PhaseCoherence::Compute(std::span<const float> samples, std::span<float> output) {
  const size_t hop = fft_size_ / kHopsPerFrame;
  samples = RepeatedTo(fft_size_ + (kLeastFrames - 1) * hop, samples, repeated_);
  ComputeFrames(samples, hop, 1 + (samples.size() - fft_size_) / hop, output);
  // A broken sample affects every bin of its frames, and every frame the first mean. The minima of the other
  // means may drop NaN.
  if (!std::isfinite(output.front())) {
    std::fill(output.begin(), output.end(), std::numeric_limits<float>::quiet_NaN());
    return;
  }
  // Except the last two curves, which are empty then.
  for (size_t curve = 0; curve < kCurves - 2; ++curve) {
    MirrorBelow(first_bin_, output.subspan(curve * bins_, bins_));
  }
}

}  // namespace veravox
