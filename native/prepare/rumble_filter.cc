// SPDX-License-Identifier: Apache-2.0
#include "prepare/rumble_filter.h"

#include <algorithm>
#include <cmath>

namespace veravox {
namespace {

constexpr double kSilence =
    1e-12;  // -240 dB of full scale: in digital silence, the filter would ring on endlessly
constexpr size_t kHeldSamples = 4000;  // after these the filter has forgotten more than 60 dB

// scipy.signal.ellip(7, 0.2, 80, 75, "highpass", output="sos", fs=16000). The first section is of order 1 and
// removes the mean exactly.
struct Section {
  double b0, b1, b2, a1, a2;
};
constexpr std::array<Section, 4> kSectionsOfFilter{{
    {0.9298831832544445, -0.9298831832544445, 0.0, -0.9236898244245091, 0.0},
    {1.0, -1.9999217413397101, 1.0, -1.9489310355963048, 0.9512674857647928},
    {1.0, -1.9997709993060513, 1.0, -1.985618602346285, 0.9867248604686071},
    {1.0, -1.999671109431458, 0.9999999999999998, -1.9960920085853338, 0.9969211263695248},
}};

}  // namespace

double RumbleFilter::Step(double sample) {
  for (size_t i = 0; i < kSections; ++i) {
    const Section& section = kSectionsOfFilter[i];
    const double output = section.b0 * sample + memory_[2 * i];
    memory_[2 * i] = section.b1 * sample - section.a1 * output + memory_[2 * i + 1];
    memory_[2 * i + 1] = section.b2 * sample - section.a2 * output;
    sample = output;
  }
  return sample;
}

void RumbleFilter::Filter(std::span<const float> samples, std::vector<float>& output) {
  const size_t before = output.size();
  output.resize(before + samples.size());
  std::ranges::transform(samples, output.begin() + static_cast<ptrdiff_t>(before), [&](float sample) {
    const double heard = Step(sample);
    return std::abs(heard) < kSilence ? 0.0f : static_cast<float>(heard);
  });
  // Denormal numbers are a hundred times slower on some processors.
  for (double& value : memory_) {
    if (std::abs(value) < kSilence * kSilence) value = 0.0;
  }
}

void RumbleFilter::Begin(std::vector<float>& output) {
  has_begun_ = true;
  if (held_.empty()) return;
  const double first = held_.front();
  const auto reflected = [&](size_t i) { return 2.0 * first - held_[i]; };
  // Acts as if the farthest sample had lasted since the beginning.
  memory_ = {};
  memory_[0] = -kSectionsOfFilter[0].b0 * reflected(held_.size() - 1);
  for (size_t i = held_.size() - 1; i > 0; --i) Step(reflected(i));
  Filter(held_, output);
  held_.clear();
}

void RumbleFilter::Push(std::span<const float> samples, std::vector<float>& output) {
  if (!has_begun_) {
    const size_t taken = std::min(samples.size(), kHeldSamples - held_.size());
    held_.insert(held_.end(), samples.begin(), samples.begin() + static_cast<ptrdiff_t>(taken));
    if (held_.size() < kHeldSamples) return;
    samples = samples.subspan(taken);
    Begin(output);
  }
  Filter(samples, output);
}

void RumbleFilter::Finish(std::vector<float>& output) {
  if (!has_begun_) Begin(output);
  has_begun_ = false;
  memory_ = {};
}

void RumbleFilter::Transfer(SavedState& state) {
  state.Transfer(has_begun_);
  state.Transfer(held_);
  state.Require(held_.size() < kHeldSamples);
  state.Transfer(std::span<double>(memory_));
}

}  // namespace veravox
