// SPDX-License-Identifier: Apache-2.0
#include "features/feature_extractor.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <ranges>
#include <string>
#include <vector>

#include "features/mean_spectrum.h"
#include "features/normalisation.h"
#include "features/phase_coherence.h"
#include "features/quarter_frames.h"
#include "features/recipe_validation.h"
#include "features/spectrogram.h"
#include "stage_error.h"

namespace veravox {
namespace {

constexpr double kSilence = 1e-9;  // -180 dB of full scale, below what any converter hears
constexpr double kLevel = 0.06;    // root mean square of a window, as in most recordings

// The dynamic range in the unit of the logarithm.
float DynamicRange(const FeatureRecipe& recipe) {
  const float magnitudes = recipe.dynamic_range_db / 20.0f * recipe.power;
  switch (recipe.log) {
    case FeatureRecipe::Log::kNatural:
      return magnitudes * std::numbers::ln10_v<float>;
    case FeatureRecipe::Log::kDecibel:
      return magnitudes * 10.0f;
    case FeatureRecipe::Log::kLog10:
    case FeatureRecipe::Log::kNone:
      break;
  }
  return magnitudes;
}

}  // namespace

class FeatureExtractor::Impl {
 public:
  explicit Impl(const FeatureRecipe& recipe) : recipe_(recipe) {
    ValidateRecipe(recipe_);
    const auto first_bin = [&](int fft_size) {
      return FirstBin(fft_size, recipe_.sample_rate_hz, recipe_.audible_only);
    };
    if (recipe_.kind == FeatureRecipe::Kind::kSpectrogram) spectrogram_ = Spectrogram::Make(recipe_);
    for (const int fft_size : recipe_.mean_spectrum_fft_sizes) {
      mean_spectra_.emplace_back(fft_size, recipe_.input_gain, first_bin(fft_size));
    }
    for (const int fft_size : recipe_.phase_coherence_fft_sizes) {
      phase_coherences_.push_back(PhaseCoherence::Make(fft_size, recipe_.input_gain, first_bin(fft_size)));
    }
  }

  size_t FrameCount(size_t samples) const { return spectrogram_ ? spectrogram_->FrameCount(samples) : 1; }

  size_t OutputSize(size_t samples) const {
    if (!spectrogram_) return samples;
    const size_t frames = spectrogram_->FrameCount(samples);
    if (frames == 0) return 0;
    size_t size = frames * static_cast<size_t>(recipe_.bands);
    for (const MeanSpectrum& spectrum : mean_spectra_) size += spectrum.OutputSize();
    for (const auto& coherence : phase_coherences_) size += coherence->OutputSize();
    return size;
  }

  void Compute(std::span<const float> samples, std::span<float> output) {
    if (output.size() != OutputSize(samples.size())) {
      throw StageError(ErrorCode::kInternal,
                       "Features: " + std::to_string(samples.size()) + " samples give " +
                           std::to_string(OutputSize(samples.size())) + " numbers but the output holds " +
                           std::to_string(output.size()) + ".");
    }
    if (output.empty()) return;
    if (recipe_.audible_only) samples = AtOneLevel(samples);
    const auto compute_last = [&](auto& stage) {
      const size_t before = output.size() - stage.OutputSize();
      stage.Compute(samples, output.subspan(before));
      output = output.first(before);
    };
    for (auto& coherence : std::views::reverse(phase_coherences_)) compute_last(*coherence);
    for (MeanSpectrum& spectrum : std::views::reverse(mean_spectra_)) compute_last(spectrum);
    if (spectrogram_) {
      spectrogram_->Compute(samples, output);
    } else {
      for (size_t i = 0; i < samples.size(); ++i) output[i] = samples[i] * recipe_.input_gain;
    }
    if (recipe_.dynamic_range_db > 0.0f) {
      NormaliseWithinRange(recipe_.normalisation, DynamicRange(recipe_), output);
    } else if (!spectrogram_ || recipe_.normalise_globally) {
      NormaliseTogether(recipe_.normalisation, output);
    } else {
      NormaliseBands(recipe_.normalisation, recipe_.layout, static_cast<size_t>(recipe_.bands), output);
    }
  }

 private:
  // Floors are absolute: without this, the values below them would depend on the level.
  std::span<const float> AtOneLevel(std::span<const float> samples) {
    double energy = 0.0;
    for (const float sample : samples) energy += static_cast<double>(sample) * sample;
    const double rms = std::sqrt(energy / static_cast<double>(samples.size()));
    if (!(rms > kSilence)) return samples;
    const auto gain = static_cast<float>(kLevel / rms);
    at_one_level_.resize(samples.size());
    std::ranges::transform(samples, at_one_level_.begin(), [&](float sample) { return gain * sample; });
    return at_one_level_;
  }

  FeatureRecipe recipe_;
  std::vector<float> at_one_level_;
  std::unique_ptr<Spectrogram> spectrogram_;  // null for a waveform
  std::vector<MeanSpectrum> mean_spectra_;
  std::vector<std::unique_ptr<PhaseCoherence>> phase_coherences_;
};

FeatureExtractor::FeatureExtractor(const FeatureRecipe& recipe) : impl_(std::make_unique<Impl>(recipe)) {}
FeatureExtractor::~FeatureExtractor() = default;

size_t FeatureExtractor::FrameCount(size_t samples) const { return impl_->FrameCount(samples); }
size_t FeatureExtractor::OutputSize(size_t samples) const { return impl_->OutputSize(samples); }
void FeatureExtractor::Compute(std::span<const float> samples, std::span<float> output) {
  impl_->Compute(samples, output);
}

}  // namespace veravox
