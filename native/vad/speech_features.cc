// SPDX-License-Identifier: Apache-2.0
#include "vad/speech_features.h"

#include <algorithm>
#include <cmath>

#include "features/feature_recipe.h"

namespace veravox {
namespace {

// The power per band of white noise at about -93 dBFS. Weaker sound, such as a dithered or idle 16-bit
// recording, counts as digital silence.
constexpr float kPowerFloor = 1e-7f;
// Brings logarithms of power to a range that suits the network: one unit is 17 dB.
constexpr float kScale = 0.25f;
// The level is the mean of the frames so far, over at most about this many: two seconds.
constexpr int64_t kLevelFrames = 200;
// Bands from 150 Hz, above the loudest mains hum, to 3.4 kHz, the limit of telephones; and bands from 4.7 kHz
// on, well above the pass band of telephone filters.
constexpr size_t kFirstLowBand = 1;
constexpr size_t kEndOfLowBands = 16;
constexpr size_t kFirstHighBand = 20;

FeatureRecipe Recipe() {
  FeatureRecipe recipe;
  recipe.fft_size = SpeechFeatures::kWindowSamples;
  recipe.window_length = SpeechFeatures::kWindowSamples;
  recipe.hop_length = SpeechFeatures::kHopSamples;
  recipe.periodic_window = true;
  recipe.bands = SpeechFeatures::kBands;
  // Two bins from 0 Hz, where the window's main lobe ends: excludes a DC offset.
  recipe.fmin_hz = 100.0f;
  recipe.fmax_hz = 8000.0f;
  recipe.log_floor = kPowerFloor;
  recipe.layout = FeatureRecipe::Layout::kFramesBands;
  return recipe;
}

// Unlike std::max_element, one instruction per maximum.
float Largest(const float* values, size_t count) {
  float largest = values[0];
  for (size_t i = 1; i < count; ++i) largest = values[i] > largest ? values[i] : largest;
  return largest;
}

}  // namespace

SpeechFeatures::SpeechFeatures(SimdLevel level) : spectrogram_(Spectrogram::Make(Recipe(), level)) {}

void SpeechFeatures::Compute(std::span<const float, kBlockSamples> samples, Block& features) {
  const float lowest = std::log(kPowerFloor);
  spectrogram_->Compute(samples, features);
  for (size_t frame = 0; frame < kBlockFrames; ++frame) {
    float* bands = &features[frame * kBands];
    float mean = 0.0f;
    for (size_t band = 0; band < kBands; ++band) {
      bands[band] = bands[band] > lowest ? bands[band] : lowest;  // NaN also becomes silence
      mean += bands[band];
    }
    levels_[frame] = {Largest(bands + kFirstLowBand, kEndOfLowBands - kFirstLowBand),
                      Largest(bands + kFirstHighBand, SpeechFeatures::kBands - kFirstHighBand)};
    mean /= static_cast<float>(kBands);
    frames_seen_ = std::min(frames_seen_ + 1, kLevelFrames);
    level_ += (mean - level_) / static_cast<float>(frames_seen_);
    for (size_t band = 0; band < kBands; ++band) bands[band] = (bands[band] - level_) * kScale;
  }
}

void SpeechFeatures::Reset() {
  frames_seen_ = 0;
  level_ = 0.0f;
}

}  // namespace veravox
