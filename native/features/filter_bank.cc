// SPDX-License-Identifier: Apache-2.0
#include "features/filter_bank.h"

#include <algorithm>
#include <cmath>

namespace veravox {
namespace {

// Slaney's Auditory Toolbox: linear below 1 kHz, logarithmic above with 27 mels per factor of 6.4.
constexpr double kSlaneyHzPerMel = 200.0 / 3.0;
constexpr double kSlaneyBreakHz = 1000.0;
constexpr double kSlaneyBreakMel = kSlaneyBreakHz / kSlaneyHzPerMel;
const double kSlaneyLogStep = std::log(6.4) / 27.0;

double HzToMel(double hz, FeatureRecipe::MelFormula formula) {
  if (formula == FeatureRecipe::MelFormula::kHtk) return 2595.0 * std::log10(1.0 + hz / 700.0);
  if (hz < kSlaneyBreakHz) return hz / kSlaneyHzPerMel;
  return kSlaneyBreakMel + std::log(hz / kSlaneyBreakHz) / kSlaneyLogStep;
}

double MelToHz(double mel, FeatureRecipe::MelFormula formula) {
  if (formula == FeatureRecipe::MelFormula::kHtk) return 700.0 * (std::pow(10.0, mel / 2595.0) - 1.0);
  if (mel < kSlaneyBreakMel) return mel * kSlaneyHzPerMel;
  return kSlaneyBreakHz * std::exp((mel - kSlaneyBreakMel) * kSlaneyLogStep);
}

FilterBank MakeLinearBank(const FeatureRecipe& recipe) {
  FilterBank bank;
  bank.weights.assign(1, 1.0f);
  for (int band = 0; band < recipe.bands; ++band) bank.bands.push_back({recipe.first_bin + band, 1, 0});
  return bank;
}

FilterBank MakeMelBank(const FeatureRecipe& recipe) {
  const double lowest_mel = HzToMel(recipe.fmin_hz, recipe.mel_formula);
  const double mel_step = (HzToMel(recipe.fmax_hz, recipe.mel_formula) - lowest_mel) / (recipe.bands + 1);
  const double bin_hz = static_cast<double>(recipe.sample_rate_hz) / recipe.fft_size;
  const auto corner_mel = [&](int index) { return lowest_mel + index * mel_step; };
  const auto corner_hz = [&](int index) { return MelToHz(corner_mel(index), recipe.mel_formula); };
  const auto corner = [&](int index) {
    return recipe.triangles_on_mel_axis ? corner_mel(index) : corner_hz(index);
  };

  FilterBank bank;
  for (int index = 0; index < recipe.bands; ++index) {
    const double left = corner(index);
    const double centre = corner(index + 1);
    const double right = corner(index + 2);
    const double area = recipe.mel_norm == FeatureRecipe::MelNorm::kSlaney
                            ? 0.5 * (corner_hz(index + 2) - corner_hz(index))
                            : 1.0;
    FilterBank::Band band{0, 0, static_cast<int>(bank.weights.size())};
    for (int bin = 0; bin <= recipe.fft_size / 2; ++bin) {
      const double hz = bin * bin_hz;
      const double place = recipe.triangles_on_mel_axis ? HzToMel(hz, recipe.mel_formula) : hz;
      const double weight =
          std::min((place - left) / (centre - left), (right - place) / (right - centre)) / area;
      if (weight <= 0.0) continue;
      if (band.bins == 0) band.first_bin = bin;
      ++band.bins;
      bank.weights.push_back(static_cast<float>(weight));
    }
    bank.bands.push_back(band);
  }
  return bank;
}

}  // namespace

FilterBank MakeFilterBank(const FeatureRecipe& recipe) {
  return recipe.scale == FeatureRecipe::Scale::kMel ? MakeMelBank(recipe) : MakeLinearBank(recipe);
}

}  // namespace veravox
