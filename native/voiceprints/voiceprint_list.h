// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "voiceprints/voiceprint_reader.h"

namespace veravox {

// Memory for a list in addition to its text: 8 bytes per entry, while ranking.
struct VoiceprintListLimits {
  int64_t most_entries = 10'000;
};

// The position of the first voiceprint whose share in `excluded` directions (rows of 256, orthonormal)
// exceeds `tolerance`: another model made it. -1 if there is none. Throws VoiceprintListError.
int64_t FindForeignVoiceprint(std::span<const uint8_t> text, const VoiceprintListLimits& limits,
                              std::span<const double> excluded, double tolerance);

struct RankedVoiceprint {
  int64_t index = 0;
  double cosine = 0.0;
  std::string id;  // in JSON
};

struct VoiceprintRanking {
  std::vector<double> cosines;         // per entry, in list order
  std::vector<RankedVoiceprint> best;  // highest first; ties in list order
};

// The cosines of all entries with `voiceprint`, 256 numbers of length 1. Throws VoiceprintListError.
VoiceprintRanking RankVoiceprints(std::span<const uint8_t> text, const VoiceprintListLimits& limits,
                                  std::span<const double> voiceprint, size_t best);

}  // namespace veravox
