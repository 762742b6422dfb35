// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace veravox {

// Bytes that most likely hold audio but were not decoded.
struct Unheard {
  int64_t bytes = 0;
  double at_s = 0.0;     // their time in the recording
  std::string what;      // ends a sentence: "a WAV file with another sample rate"
  double until_s = 0.0;  // if they last longer; of a track infinite: up to the end of the recording
};

inline constexpr const char* kDamagedData = "damaged data";

// Adds a part to a list. From the 20th of a kind on, one entry counts all, so that files cannot fill an
// answer.
inline void AddUnheard(std::vector<Unheard>& list, Unheard part) {
  constexpr std::ptrdiff_t kMostOfAKind = 20;
  const bool is_damage = part.what.starts_with(kDamagedData);
  const auto is_same_kind = [&](const Unheard& other) {
    return is_damage ? other.what.starts_with(kDamagedData) : other.what == part.what;
  };
  if (std::ranges::count_if(list, is_same_kind) < kMostOfAKind) return list.push_back(std::move(part));
  Unheard& last = *std::find_if(list.rbegin(), list.rend(), is_same_kind);
  last.bytes += part.bytes;
  last.until_s = std::max({last.until_s, part.at_s, part.until_s});
  if (is_damage) last.what = std::string(kDamagedData) + " in several places";
}

// The length that a container states, if it holds less.
struct StatedLength {
  std::optional<double> stated_s;  // absent if the file only lacks its end mark
  double found_s = 0.0;
};

}  // namespace veravox
