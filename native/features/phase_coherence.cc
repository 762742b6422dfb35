// SPDX-License-Identifier: Apache-2.0
#include "features/phase_coherence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "features/quarter_frames.h"
#include "features/spectrogram_kernel.h"

namespace veravox {
namespace {

constexpr size_t kFarStep = kHopsPerFrame;  // of the widest product, in hops
constexpr size_t kLeastFrames = 2 * kFarStep + 1;
constexpr size_t kBlock = 32;             // bins that are averaged together
constexpr float kMagnitudeFloor = 1e-7f;  // below the noise of 16 bits

FeatureRecipe Frames(int fft_size, float input_gain) {
  FeatureRecipe recipe = QuarterFrames(fft_size, input_gain);
  recipe.bands = 1;  // the plan's bands are not used
  return recipe;
}

using Phases = PhaseCoherence::Phases;

template <int kLanes>
struct PhaseScratch {
  explicit PhaseScratch(const SpectrogramPlan& plan)
      : spectrogram(plan), re(static_cast<size_t>(plan.fft.size) + 1), im(re.size()), weight(re.size()) {}

  using Row = typename SpectrogramScratch<kLanes>::Row;
  SpectrogramScratch<kLanes> spectrogram;
  std::vector<Row> re;
  std::vector<Row> im;
  std::vector<Row> weight;
};

// Lane by lane, `stride` floats apart.
template <int kLanes>
VERAVOX_INLINE void StoreFrames(const std::vector<typename PhaseScratch<kLanes>::Row>& bins, size_t frames,
                                size_t stride, float* output) {
  size_t bin = 0;
  for (; bin + kLanes <= bins.size(); bin += kLanes) {
    typename LaneTypes<kLanes>::Float rows[kLanes];
    for (int i = 0; i < kLanes; ++i) rows[i] = bins[bin + i].lanes;
    TransposeLanes<kLanes>(rows);
    for (size_t frame = 0; frame < frames; ++frame) {
      StoreLanes<kLanes>(rows[frame], output + frame * stride + bin);
    }
  }
  for (; bin < bins.size(); ++bin) {
    for (size_t frame = 0; frame < frames; ++frame) output[frame * stride + bin] = bins[bin].lanes[frame];
  }
}

// The phases of `used` of the kLanes frames that start at `frames[lane]`, as those from `first` on.
template <int kLanes>
VERAVOX_INLINE void PhasesOfFrames(const SpectrogramPlan& plan, const float* const* frames,
                                   PhaseScratch<kLanes>& scratch, size_t first, size_t used, Phases& phases) {
  using Vector = typename LaneTypes<kLanes>::Float;
  spectrogram_kernel::LoadFrames(plan, frames, scratch.spectrogram);
  TransformLanes(plan.fft, scratch.spectrogram.spectrum.data(), scratch.spectrogram.radix.data());
  const auto put = [&](int bin, const Vector& re, const Vector& im) __attribute__((always_inline)) {
    Vector magnitude = re * re + im * im;
    for (int lane = 0; lane < kLanes; ++lane) magnitude[lane] = std::sqrt(magnitude[lane]);
    magnitude += kMagnitudeFloor;
    scratch.re[bin].lanes = re / magnitude;
    scratch.im[bin].lanes = im / magnitude;
    for (int lane = 0; lane < kLanes; ++lane) magnitude[lane] = std::sqrt(magnitude[lane]);
    scratch.weight[bin].lanes = magnitude;
  };
  spectrogram_kernel::SplitSpectrum<kLanes>(plan, scratch.spectrogram.spectrum.data(), put);
  const size_t row = first * phases.stride;
  StoreFrames<kLanes>(scratch.re, used, phases.stride, &phases.re[row]);
  StoreFrames<kLanes>(scratch.im, used, phases.stride, &phases.im[row]);
  StoreFrames<kLanes>(scratch.weight, used, phases.stride, &phases.weight[row]);
}

template <int kLanes>
using PhaseKernel = void (*)(const SpectrogramPlan&, const float* const* frames, PhaseScratch<kLanes>&,
                             size_t first, size_t used, Phases&);

void PhasesBaseline(const SpectrogramPlan& plan, const float* const* frames, PhaseScratch<4>& scratch,
                    size_t first, size_t used, Phases& phases) {
  PhasesOfFrames(plan, frames, scratch, first, used, phases);
}

VERAVOX_TARGET_AVX2 void PhasesAvx2(const SpectrogramPlan& plan, const float* const* frames,
                                    PhaseScratch<8>& scratch, size_t first, size_t used, Phases& phases) {
  PhasesOfFrames(plan, frames, scratch, first, used, phases);
}

VERAVOX_TARGET_AVX512 void PhasesAvx512(const SpectrogramPlan& plan, const float* const* frames,
                                        PhaseScratch<16>& scratch, size_t first, size_t used,
                                        Phases& phases) {
  PhasesOfFrames(plan, frames, scratch, first, used, phases);
}

struct Complex {
  float re;
  float im;
};

VERAVOX_INLINE Complex Times(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

VERAVOX_INLINE Complex Over(Complex a, Complex b) {  // for |b| = 1
  return {a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
}

// The weighted mean of `product(t, k)` over the frames `first` to `last` (exclusive). A block of bins is
// added up at a time, in sums that the compiler sees are no one else's.
template <typename Product, typename Weight>
VERAVOX_INLINE void AverageOne(size_t first, size_t last, size_t bins, const Product& product,
                               const Weight& weight, float* output) {
  for (size_t start = 0; start < bins; start += kBlock) {
    std::array<float, kBlock> re{}, im{}, total{};
    for (size_t t = first; t < last; ++t) {
      for (size_t i = 0; i < kBlock; ++i) {
        const Complex value = product(t, start + i);
        const float share = weight(t, start + i);
        re[i] += share * value.re;
        im[i] += share * value.im;
        total[i] += share;
      }
    }
    const size_t width = std::min(kBlock, bins - start);
    for (size_t i = 0; i < width; ++i) {
      output[start + i] = re[i] / total[i];
      output[bins + start + i] = im[i] / total[i];
    }
  }
}

// The fifth product. Even and odd bins are kept apart, as registers of neighbouring ones would need each of
// the bins at half their frequency twice.
VERAVOX_INLINE void AverageHalves(const Phases& phases, size_t frames, size_t bins, float* output) {
  using HalfBlock = std::array<float, kBlock / 2>;
  for (size_t start = 0; start < bins; start += kBlock) {
    std::array<HalfBlock, 2> re{}, im{}, total{};
    for (size_t t = 0; t < frames; ++t) {
      const size_t whole = t * phases.stride + start, half = t * phases.stride + start / 2;
      for (const size_t odd : {0, 1}) {
        const float* const whole_re = &phases.re[whole + odd];
        const float* const whole_im = &phases.im[whole + odd];
        const float* const whole_weight = &phases.weight[whole + odd];
        const float* const half_re = &phases.re[half];
        const float* const half_im = &phases.im[half];
        const float* const half_weight = &phases.weight[half];
        for (size_t i = 0; i < kBlock / 2; ++i) {
          const Complex lower{half_re[i], half_im[i]}, upper{half_re[i + odd], half_im[i + odd]};
          const Complex value = Over(Times(lower, upper), {whole_re[2 * i], whole_im[2 * i]});
          const float share = std::min(half_weight[i], whole_weight[2 * i]);
          re[odd][i] += share * value.re;
          im[odd][i] += share * value.im;
          total[odd][i] += share;
        }
      }
    }
    for (size_t i = 0; i < std::min(kBlock, bins - start); ++i) {
      output[start + i] = re[i % 2][i / 2] / total[i % 2][i / 2];
      output[bins + start + i] = im[i % 2][i / 2] / total[i % 2][i / 2];
    }
  }
}

VERAVOX_INLINE void AverageProducts(const Phases& phases, size_t frames, size_t bins, float* output) {
  const size_t stride = phases.stride;
  const float* const re = phases.re.data();
  const float* const im = phases.im.data();
  const float* const weights = phases.weight.data();
  const auto at = [=](size_t t, size_t k) __attribute__((always_inline)) {
    return Complex{re[t * stride + k], im[t * stride + k]};
  };
  const auto weight = [=](size_t t, size_t k) __attribute__((always_inline)) {
    return weights[t * stride + k];
  };
  const auto smaller = [=](size_t t, size_t k) __attribute__((always_inline)) {
    return std::min(weight(t, k), weight(t, k + 1));
  };
  const auto delay = [=](size_t t, size_t k) __attribute__((always_inline)) {
    return Over(at(t, k + 1), at(t, k));
  };
  for (const size_t step : {size_t{1}, kFarStep}) {
    const auto change = [=](size_t t, size_t k) __attribute__((always_inline)) {
      return Times(Over(at(t + step, k), at(t, k)), Over(at(t - step, k), at(t, k)));
    };
    AverageOne(step, frames - step, bins, change, weight, output);
    output += 2 * bins;
  }
  AverageOne(0, frames, bins, delay, smaller, output);
  output += 2 * bins;
  const auto drift = [=](size_t t, size_t k) __attribute__((always_inline)) {
    return Over(delay(t, k), delay(t - 1, k));
  };
  AverageOne(1, frames, bins, drift, smaller, output);
  output += 2 * bins;
  AverageHalves(phases, frames, bins, output);
}

void AverageBaseline(const Phases& phases, size_t frames, size_t bins, float* output) {
  AverageProducts(phases, frames, bins, output);
}

VERAVOX_TARGET_AVX2 void AverageAvx2(const Phases& phases, size_t frames, size_t bins, float* output) {
  AverageProducts(phases, frames, bins, output);
}

VERAVOX_TARGET_AVX512 void AverageAvx512(const Phases& phases, size_t frames, size_t bins, float* output) {
  AverageProducts(phases, frames, bins, output);
}

template <int kLanes>
class LanePhaseCoherence final : public PhaseCoherence {
 public:
  using Averages = void (*)(const Phases&, size_t frames, size_t bins, float* output);

  LanePhaseCoherence(const FeatureRecipe& frames, PhaseKernel<kLanes> kernel, Averages averages)
      : PhaseCoherence(frames), scratch_(plan_), kernel_(kernel), averages_(averages) {}

 private:
  void ComputePhases(std::span<const float> samples, size_t hop, size_t frames, Phases& phases) override {
    for (size_t first = 0; first < frames; first += kLanes) {
      const float* starts[kLanes];
      const size_t used = std::min<size_t>(kLanes, frames - first);
      // Lanes without a frame of their own repeat the last one.
      for (size_t lane = 0; lane < kLanes; ++lane) {
        starts[lane] = samples.data() + (first + std::min(lane, used - 1)) * hop;
      }
      kernel_(plan_, starts, scratch_, first, used, phases);
    }
  }

  void Average(const Phases& phases, size_t frames, std::span<float> output) override {
    averages_(phases, frames, static_cast<size_t>(plan_.fft.size), output.data());
  }

  PhaseScratch<kLanes> scratch_;
  PhaseKernel<kLanes> kernel_;
  Averages averages_;
};

}  // namespace

std::unique_ptr<PhaseCoherence> PhaseCoherence::Make(int fft_size, float input_gain, SimdLevel level) {
  const FeatureRecipe frames = Frames(fft_size, input_gain);
  switch (level) {
    case SimdLevel::kAvx512:
      return std::make_unique<LanePhaseCoherence<16>>(frames, PhasesAvx512, AverageAvx512);
    case SimdLevel::kAvx2:
      return std::make_unique<LanePhaseCoherence<8>>(frames, PhasesAvx2, AverageAvx2);
    case SimdLevel::kBaseline:
      break;
  }
  return std::make_unique<LanePhaseCoherence<4>>(frames, PhasesBaseline, AverageBaseline);
}

PhaseCoherence::PhaseCoherence(const FeatureRecipe& frames)
    : plan_(frames),
      fft_size_(static_cast<size_t>(frames.fft_size)),
      bins_(fft_size_ / 2),
      phases_{(bins_ + kBlock - 1) / kBlock * kBlock + 1, {}, {}, {}} {}

void PhaseCoherence::Compute(std::span<const float> samples, std::span<float> output) {
  const size_t hop = fft_size_ / kHopsPerFrame;
  samples = RepeatedTo(fft_size_ + (kLeastFrames - 1) * hop, samples, repeated_);
  const size_t frames = 1 + (samples.size() - fft_size_) / hop;
  for (std::vector<float>* part : {&phases_.re, &phases_.im, &phases_.weight}) {
    part->resize(frames * phases_.stride);
  }
  ComputePhases(samples, hop, frames, phases_);
  Average(phases_, frames, output);
  // A broken sample is in every bin of its frames, and every frame in the first mean. The minima of the
  // others may drop what is not a number.
  if (!std::isfinite(output.front())) {
    std::fill(output.begin(), output.end(), std::numeric_limits<float>::quiet_NaN());
  }
}

}  // namespace veravox
