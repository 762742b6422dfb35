// SPDX-License-Identifier: Apache-2.0
#include "features/spectrogram.h"

#include <algorithm>

#include "features/spectrogram_kernel.h"
#include "features/window_function.h"

namespace veravox {
namespace {

constexpr int kLanes = 8;
using Scratch = SpectrogramScratch<kLanes>;
using FrameKernel = void (*)(const SpectrogramPlan&, const float* const* frames, Scratch&);

void ComputeFramesBaseline(const SpectrogramPlan& plan, const float* const* frames, Scratch& scratch) {
  ComputeFrames<kLanes>(plan, frames, scratch);
}

VERAVOX_TARGET_AVX2 void ComputeFramesAvx2(const SpectrogramPlan& plan, const float* const* frames,
                                           Scratch& scratch) {
  ComputeFrames<kLanes>(plan, frames, scratch);
}

VERAVOX_TARGET_AVX512 void ComputeFramesAvx512(const SpectrogramPlan& plan, const float* const* frames,
                                               Scratch& scratch) {
  ComputeFrames<kLanes>(plan, frames, scratch);
}

FrameKernel KernelOf(SimdLevel level) {
  switch (level) {
    case SimdLevel::kAvx512:
      return ComputeFramesAvx512;
    case SimdLevel::kAvx2:
      return ComputeFramesAvx2;
    case SimdLevel::kBaseline:
      return ComputeFramesBaseline;
  }
  return ComputeFramesBaseline;
}

float LogScale(FeatureRecipe::Log log) {
  switch (log) {
    case FeatureRecipe::Log::kLog10:
      return std::numbers::log10e_v<float>;
    case FeatureRecipe::Log::kDecibel:
      return 10.0f * std::numbers::log10e_v<float>;
    case FeatureRecipe::Log::kNatural:
    case FeatureRecipe::Log::kNone:
      return 1.0f;
  }
  return 1.0f;
}

// Place of a sample that lies outside of the audio when the audio is mirrored at its first and last sample,
// as often as it takes.
size_t Mirrored(int64_t index, size_t samples) {
  if (samples == 1) return 0;
  const auto period = static_cast<int64_t>(2 * (samples - 1));
  index = (index % period + period) % period;
  return static_cast<size_t>(std::min(index, period - index));
}

}  // namespace

SpectrogramPlan::SpectrogramPlan(const FeatureRecipe& recipe)
    : window_length(recipe.window_length),
      remove_dc_offset(recipe.remove_dc_offset),
      pre_emphasis(recipe.pre_emphasis),
      fft(recipe.fft_size / 2),
      magnitude(recipe.power == 1.0f),
      filter_bank(MakeFilterBank(recipe)),
      logarithmic(recipe.log != FeatureRecipe::Log::kNone),
      log_floor(recipe.log_floor),
      log_scale(LogScale(recipe.log)) {
  for (const double value : MakeWindow(recipe.window, recipe.window_length, recipe.periodic_window)) {
    window.push_back(static_cast<float>(0.5 * recipe.input_gain * value));
  }
  for (int k = 0; k <= recipe.fft_size / 4; ++k) {
    const double angle = -2.0 * std::numbers::pi * k / recipe.fft_size;
    split_twiddles.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
  }
}

class Spectrogram::Impl {
 public:
  Impl(const FeatureRecipe& recipe, SimdLevel level)
      : recipe_(recipe),
        plan_(recipe),
        scratch_(plan_),
        kernel_(KernelOf(level)),
        mirrored_(recipe.centred ? static_cast<size_t>(kLanes * recipe.window_length) : 0) {}

  size_t FrameCount(size_t samples) const {
    const auto hop = static_cast<size_t>(recipe_.hop_length);
    const auto length = static_cast<size_t>(recipe_.window_length);
    if (recipe_.centred) return samples == 0 ? 0 : 1 + samples / hop;
    return samples < length ? 0 : 1 + (samples - length) / hop;
  }

  void Compute(std::span<const float> samples, std::span<float> output) {
    const size_t frames = FrameCount(samples.size());
    for (size_t first = 0; first < frames; first += kLanes) {
      const float* starts[kLanes];
      const size_t used = std::min<size_t>(kLanes, frames - first);
      // Lanes without a frame of their own repeat the last one.
      for (size_t lane = 0; lane < kLanes; ++lane) {
        starts[lane] = lane < used ? FrameStart(samples, first + lane, lane) : starts[used - 1];
      }
      kernel_(plan_, starts, scratch_);
      Store(first, used, frames, output);
    }
  }

 private:
  // The frame's samples: in place, or copied where a centred frame reaches over the edge of the audio.
  const float* FrameStart(std::span<const float> samples, size_t frame, size_t lane) {
    const int64_t centre = static_cast<int64_t>(frame) * recipe_.hop_length;
    if (!recipe_.centred) return samples.data() + centre;
    const int64_t start = centre - recipe_.fft_size / 2 + (recipe_.fft_size - recipe_.window_length) / 2;
    const auto samples_end = static_cast<int64_t>(samples.size());
    if (start >= 0 && start + recipe_.window_length <= samples_end) return samples.data() + start;
    float* copy = mirrored_.data() + lane * static_cast<size_t>(recipe_.window_length);
    for (int i = 0; i < recipe_.window_length; ++i) copy[i] = samples[Mirrored(start + i, samples.size())];
    return copy;
  }

  void Store(size_t first, size_t used, size_t frames, std::span<float> output) const {
    const size_t bands = scratch_.bands.size();
    for (size_t band = 0; band < bands; ++band) {
      const Scratch::Row& row = scratch_.bands[band];
      if (recipe_.layout == FeatureRecipe::Layout::kBandsFrames) {
        std::memcpy(&output[band * frames + first], &row, used * sizeof(float));
      } else {
        for (size_t lane = 0; lane < used; ++lane) output[(first + lane) * bands + band] = row.lanes[lane];
      }
    }
  }

  FeatureRecipe recipe_;
  SpectrogramPlan plan_;
  Scratch scratch_;
  FrameKernel kernel_;
  std::vector<float> mirrored_;
};

Spectrogram::Spectrogram(const FeatureRecipe& recipe, SimdLevel level)
    : impl_(std::make_unique<Impl>(recipe, level)) {}
Spectrogram::~Spectrogram() = default;

size_t Spectrogram::FrameCount(size_t samples) const { return impl_->FrameCount(samples); }
void Spectrogram::Compute(std::span<const float> samples, std::span<float> output) {
  impl_->Compute(samples, output);
}

}  // namespace veravox
