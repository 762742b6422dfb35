// SPDX-License-Identifier: Apache-2.0
#include "features/spectrogram.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "features/spectrogram_kernel.h"

namespace veravox {
namespace {

// Destination of the bands of `used` frames.
struct FramePlaces {
  FeatureRecipe::Layout layout;
  size_t used;
  size_t stride;  // from one band to the next, or from one frame to the next
  float* output;
};

// Called within a kernel, so that the transposition is compiled for its level.
template <int kLanes>
VERAVOX_INLINE void StoreFrames(const SpectrogramScratch<kLanes>& scratch, const FramePlaces& places) {
  const auto& bands = scratch.bands;
  if (places.layout == FeatureRecipe::Layout::kBandsFrames) {
    for (size_t band = 0; band < bands.size(); ++band) {
      std::memcpy(places.output + band * places.stride, &bands[band], places.used * sizeof(float));
    }
    return;
  }
  size_t band = 0;
  for (; band + kLanes <= bands.size(); band += kLanes) {
    typename LaneTypes<kLanes>::Float rows[kLanes];
    for (int i = 0; i < kLanes; ++i) rows[i] = bands[band + i].lanes;
    TransposeLanes<kLanes>(rows);
    for (size_t frame = 0; frame < places.used; ++frame) {
      StoreLanes<kLanes>(rows[frame], places.output + frame * places.stride + band);
    }
  }
  for (; band < bands.size(); ++band) {
    for (size_t frame = 0; frame < places.used; ++frame) {
      places.output[frame * places.stride + band] = bands[band].lanes[frame];
    }
  }
}

template <int kLanes>
using FrameKernel = void (*)(const SpectrogramPlan&, const float* const* frames, SpectrogramScratch<kLanes>&,
                             const FramePlaces&);

void ComputeFramesBaseline(const SpectrogramPlan& plan, const float* const* frames,
                           SpectrogramScratch<4>& scratch, const FramePlaces& places) {
  ComputeFrames(plan, frames, scratch);
  StoreFrames(scratch, places);
}

VERAVOX_TARGET_AVX2 void ComputeFramesAvx2(const SpectrogramPlan& plan, const float* const* frames,
                                           SpectrogramScratch<8>& scratch, const FramePlaces& places) {
  ComputeFrames(plan, frames, scratch);
  StoreFrames(scratch, places);
}

VERAVOX_TARGET_AVX512 void ComputeFramesAvx512(const SpectrogramPlan& plan, const float* const* frames,
                                               SpectrogramScratch<16>& scratch, const FramePlaces& places) {
  ComputeFrames(plan, frames, scratch);
  StoreFrames(scratch, places);
}

// Index of a sample outside the audio, which is mirrored at its first and last sample as often as needed.
size_t Mirrored(int64_t index, size_t samples) {
  if (samples == 1) return 0;
  const auto period = static_cast<int64_t>(2 * (samples - 1));
  index = (index % period + period) % period;
  return static_cast<size_t>(std::min(index, period - index));
}

template <int kLanes>
class LaneSpectrogram final : public Spectrogram {
 public:
  LaneSpectrogram(const FeatureRecipe& recipe, FrameKernel<kLanes> kernel)
      : Spectrogram(recipe),
        plan_(recipe),
        scratch_(plan_),
        kernel_(kernel),
        beyond_edges_(recipe.centred ? static_cast<size_t>(kLanes * recipe.window_length) : 0) {}

  void Compute(std::span<const float> samples, std::span<float> output) override {
    const size_t frames = FrameCount(samples.size());
    const bool frame_by_frame = recipe_.layout == FeatureRecipe::Layout::kFramesBands;
    const size_t stride = frame_by_frame ? scratch_.bands.size() : frames;
    for (size_t first = 0; first < frames; first += kLanes) {
      const float* starts[kLanes];
      const size_t used = std::min<size_t>(kLanes, frames - first);
      // Lanes without a frame of their own repeat the last frame.
      for (size_t lane = 0; lane < kLanes; ++lane) {
        starts[lane] = lane < used ? FrameStart(samples, first + lane, lane) : starts[used - 1];
      }
      kernel_(plan_, starts, scratch_,
              {recipe_.layout, used, stride, &output[frame_by_frame ? first * stride : first]});
    }
  }

 private:
  // The frame's samples: in place, or copied if a centred frame reaches beyond the audio.
  const float* FrameStart(std::span<const float> samples, size_t frame, size_t lane) {
    const int64_t centre = static_cast<int64_t>(frame) * recipe_.hop_length;
    if (!recipe_.centred) return samples.data() + centre;
    const int64_t start = centre - recipe_.fft_size / 2 + (recipe_.fft_size - recipe_.window_length) / 2;
    const auto samples_end = static_cast<int64_t>(samples.size());
    if (start >= 0 && start + recipe_.window_length <= samples_end) return samples.data() + start;
    float* copy = beyond_edges_.data() + lane * static_cast<size_t>(recipe_.window_length);
    const bool mirrors = recipe_.edges == FeatureRecipe::Edges::kMirrored;
    for (int i = 0; i < recipe_.window_length; ++i) {
      const int64_t index = start + i;
      const bool is_inside = index >= 0 && index < samples_end;
      copy[i] = is_inside || mirrors ? samples[Mirrored(index, samples.size())] : 0.0f;
    }
    return copy;
  }

  SpectrogramPlan plan_;
  SpectrogramScratch<kLanes> scratch_;
  FrameKernel<kLanes> kernel_;
  std::vector<float> beyond_edges_;
};

}  // namespace

size_t Spectrogram::FrameCount(size_t samples) const {
  const auto hop = static_cast<size_t>(recipe_.hop_length);
  const auto length = static_cast<size_t>(recipe_.window_length);
  if (recipe_.centred) return samples == 0 ? 0 : 1 + samples / hop;
  return samples < length ? 0 : 1 + (samples - length) / hop;
}

std::unique_ptr<Spectrogram> Spectrogram::Make(const FeatureRecipe& recipe, SimdLevel level) {
  switch (level) {
    case SimdLevel::kAvx512:
      return std::make_unique<LaneSpectrogram<16>>(recipe, ComputeFramesAvx512);
    case SimdLevel::kAvx2:
      return std::make_unique<LaneSpectrogram<8>>(recipe, ComputeFramesAvx2);
    case SimdLevel::kBaseline:
      break;
  }
  return std::make_unique<LaneSpectrogram<4>>(recipe, ComputeFramesBaseline);
}

}  // namespace veravox
