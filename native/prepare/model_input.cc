// SPDX-License-Identifier: Apache-2.0
#include "prepare/model_input.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "stage_error.h"

namespace veravox {
namespace {

// The largest magnitude. Floats without sign order like their bits, and the compiler vectorises a maximum of
// integers.
float PeakOf(std::span<const float> samples) {
  uint32_t peak = 0;
  for (const float sample : samples) peak = std::max(peak, std::bit_cast<uint32_t>(sample) & 0x7fffffffu);
  return std::bit_cast<float>(peak);
}

// From the first to the last sample within 60 dB of the loudest; everything if there is none.
std::span<const float> SoundOf(std::span<const float> samples) {
  const float threshold = 1e-3f * PeakOf(samples);
  const auto is_heard = [&](float sample) { return std::abs(sample) >= threshold; };
  const auto first = std::find_if(samples.begin(), samples.end(), is_heard);
  const auto last = std::find_if(samples.rbegin(), samples.rend(), is_heard);
  if (first == samples.end()) return samples;
  return {first, last.base()};
}

}  // namespace

ModelInputMaker::ModelInputMaker(const ModelInputSpec& spec)
    : spec_(spec),
      extractor_(spec.recipe),
      input_size_(extractor_.OutputSize(static_cast<size_t>(spec.window_samples))) {
  if (spec.window_samples <= 0 || spec.hop_samples <= 0) {
    throw StageError(ErrorCode::kInternal, "Expected window_samples and hop_samples above 0.");
  }
  if (input_size_ == 0) {
    throw StageError(ErrorCode::kInternal, "Expected window_samples long enough for one frame of features.");
  }
  filled_up_.resize(static_cast<size_t>(spec.window_samples));
}

int ModelInputMaker::InputCount(int64_t samples) const {
  const int64_t beyond_first = samples - spec_.window_samples;
  if (beyond_first <= 0) return 1;
  return static_cast<int>(1 + (beyond_first + spec_.hop_samples - 1) / spec_.hop_samples);
}

void ModelInputMaker::Make(std::span<const float> window, int input_index, std::span<float> output) {
  using ShortWindow = ModelInputSpec::ShortWindow;
  const auto wanted = static_cast<size_t>(spec_.window_samples);
  std::span<const float> heard = window;
  if (window.size() > wanted) {
    const auto begin = static_cast<size_t>(input_index * spec_.hop_samples);
    heard = window.subspan(std::min(begin, window.size() - wanted), wanted);
  }
  if (spec_.short_window == ShortWindow::kRepeatSound) heard = SoundOf(heard);
  if (heard.size() == wanted) {
    extractor_.Compute(heard, output);
    return;
  }
  const bool repeats = spec_.short_window != ShortWindow::kZeroPad && !heard.empty();
  size_t filled = 0;
  do {
    const size_t count = std::min(heard.size(), wanted - filled);
    std::copy_n(heard.begin(), count, filled_up_.begin() + static_cast<ptrdiff_t>(filled));
    filled += count;
  } while (repeats && filled < wanted);
  std::fill(filled_up_.begin() + static_cast<ptrdiff_t>(filled), filled_up_.end(), 0.0f);
  extractor_.Compute(filled_up_, output);
}

}  // namespace veravox
