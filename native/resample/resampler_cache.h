// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "resample/resampler.h"

namespace veravox {

// Keeps the resamplers of the latest rates: making the tables of one can take longer than resampling
// 5 s of audio with it. Not thread-safe.
class ResamplerCache {
 public:
  // Ready for a new stream if its last one was finished. Valid until the next call with other rates.
  Resampler& Get(int input_rate_hz, int output_rate_hz) {
    const auto wanted = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.input_rate_hz == input_rate_hz && entry.output_rate_hz == output_rate_hz;
    });
    if (wanted != entries_.end()) {
      std::rotate(entries_.begin(), wanted, wanted + 1);
    } else {
      auto resampler = std::make_unique<Resampler>(input_rate_hz, output_rate_hz);
      if (entries_.size() == kMaxEntries) entries_.pop_back();
      entries_.insert(entries_.begin(), {input_rate_hz, output_rate_hz, std::move(resampler)});
      ++made_;
    }
    return *entries_.front().resampler;
  }
  // Resamplers made so far.
  int64_t made() const { return made_; }

 private:
  struct Entry {
    int input_rate_hz;
    int output_rate_hz;
    std::unique_ptr<Resampler> resampler;
  };
  static constexpr size_t kMaxEntries = 8;

  std::vector<Entry> entries_;  // latest first
  int64_t made_ = 0;
};

}  // namespace veravox
