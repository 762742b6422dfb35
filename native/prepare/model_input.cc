// SPDX-License-Identifier: Apache-2.0
#include "prepare/model_input.h"

#include <algorithm>

#include "stage_error.h"

namespace veravox {

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
  const auto wanted = static_cast<size_t>(spec_.window_samples);
  if (window.size() >= wanted) {
    const auto begin = static_cast<size_t>(input_index * spec_.hop_samples);
    extractor_.Compute(window.subspan(std::min(begin, window.size() - wanted), wanted), output);
    return;
  }
  const bool repeats = spec_.short_window == ModelInputSpec::ShortWindow::kRepeat && !window.empty();
  size_t filled = 0;
  do {
    const size_t count = std::min(window.size(), wanted - filled);
    std::copy_n(window.begin(), count, filled_up_.begin() + static_cast<ptrdiff_t>(filled));
    filled += count;
  } while (repeats && filled < wanted);
  std::fill(filled_up_.begin() + static_cast<ptrdiff_t>(filled), filled_up_.end(), 0.0f);
  extractor_.Compute(filled_up_, output);
}

}  // namespace veravox
