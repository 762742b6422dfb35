// SPDX-License-Identifier: Apache-2.0
#include "voiceprints/voiceprint_list.h"

#include <algorithm>
#include <cmath>

#include "voiceprints/cosine.h"

namespace veravox {
namespace {

bool IsBefore(const RankedVoiceprint& a, const RankedVoiceprint& b) {
  return a.cosine != b.cosine ? a.cosine > b.cosine : a.index < b.index;
}

}  // namespace

int64_t FindForeignVoiceprint(std::span<const uint8_t> text, const VoiceprintListLimits& limits,
                              std::span<const double> excluded, double tolerance) {
  VoiceprintReader reader(text, limits.most_entries);
  ListedVoiceprint voiceprint;
  int64_t foreign = -1;
  // Reads to the end, to find errors in later entries too.
  while (reader.Next(voiceprint)) {
    double share = 0.0;
    double own = 0.0;
    for (size_t row = 0; row + kVoiceprintSize <= excluded.size(); row += kVoiceprintSize) {
      const DotProducts products = Multiply(voiceprint.values, excluded.subspan(row, kVoiceprintSize));
      share += products.with * products.with;
      own = products.own;
    }
    if (foreign < 0 && std::sqrt(share / own) > tolerance) foreign = reader.count() - 1;
  }
  return foreign;
}

VoiceprintRanking RankVoiceprints(std::span<const uint8_t> text, const VoiceprintListLimits& limits,
                                  std::span<const double> voiceprint, size_t best) {
  VoiceprintReader reader(text, limits.most_entries);
  ListedVoiceprint listed;
  VoiceprintRanking ranking;
  std::vector<RankedVoiceprint>& heap = ranking.best;  // the worst of the best on top
  while (reader.Next(listed)) {
    const DotProducts products = Multiply(listed.values, voiceprint);
    const double cosine = std::clamp(products.with / std::sqrt(products.own), -1.0, 1.0);
    ranking.cosines.push_back(cosine);
    RankedVoiceprint ranked{reader.count() - 1, cosine, {}};
    if (heap.size() == best) {
      if (best == 0 || !IsBefore(ranked, heap.front())) continue;
      std::pop_heap(heap.begin(), heap.end(), IsBefore);
      heap.pop_back();
    }
    ranked.id = listed.id;
    heap.push_back(std::move(ranked));
    std::push_heap(heap.begin(), heap.end(), IsBefore);
  }
  std::sort_heap(heap.begin(), heap.end(), IsBefore);
  return ranking;
}

}  // namespace veravox
