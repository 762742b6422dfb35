// SPDX-License-Identifier: Apache-2.0
#include "vad/speech_levels.h"

#include <algorithm>
#include <cmath>

namespace veravox {
namespace {

constexpr int64_t kMinFrames = 100;
constexpr float kDbPerNeper = 4.3429448f;  // of power

}  // namespace

void SpeechLevels::Add(FrameLevels levels) {
  low_.Add(levels.low);
  high_.Add(levels.high);
}

std::optional<double> SpeechLevels::HighBandDropDb() const {
  constexpr double kShare = 0.05;
  if (low_.count() < kMinFrames) return std::nullopt;
  return low_.ExceededBy(kShare) - high_.ExceededBy(kShare);
}

std::optional<double> SpeechLevels::NoiseGapDb() const {
  const int64_t heard = low_.count() - low_.silent_count();
  if (heard < kMinFrames) return std::nullopt;
  const double share = static_cast<double>(heard) / static_cast<double>(low_.count());
  return low_.ExceededBy(0.1 * share) - low_.ExceededBy(0.97 * share);
}

void SpeechLevels::Histogram::Add(float level) {
  const float bin =
      std::clamp(level * kDbPerNeper - static_cast<float>(kLowestDb), 0.0f, static_cast<float>(kBins - 1));
  ++bins_[static_cast<size_t>(bin)];
  ++count_;
}

double SpeechLevels::Histogram::ExceededBy(double share) const {
  const double frames = share * static_cast<double>(count_);
  double above = 0.0;
  size_t bin = kBins - 1;
  while (bin > 0 && above + bins_[bin] <= frames) above += bins_[bin--];
  return static_cast<double>(bin) + 0.5 + kLowestDb;
}

}  // namespace veravox
