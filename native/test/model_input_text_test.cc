// SPDX-License-Identifier: Apache-2.0
#include "prepare/model_input_text.h"

#include <gtest/gtest.h>

#include "recipe_text_refusal.h"

namespace veravox {
namespace {

TEST(ModelInputText, ReadsTheWindowAndTheRecipeFromOneText) {
  const ModelInputSpec spec = ParseModelInput(
      "sample_rate_hz=8000\nwindow_samples=64600\nhop_samples=32300\nshort_window=repeat_sound\nkind="
      "waveform");
  EXPECT_EQ(spec.window_samples, 64600);
  EXPECT_EQ(spec.hop_samples, 32300);
  EXPECT_EQ(spec.short_window, ModelInputSpec::ShortWindow::kRepeatSound);
  EXPECT_EQ(spec.recipe.sample_rate_hz, 8000);
  EXPECT_EQ(spec.recipe.kind, FeatureRecipe::Kind::kWaveform);
}

TEST(ModelInputText, RefusesWhatItCannotReadNamingTheField) {
  ExpectRefusalNamingTheField(
      ParseModelInput, {"window_samples=5 s", "window_samples=1e5", "hop_samples=", "short_window=mirror",
                        "fft_size=512.5", "window_sample=80000"});
}

}  // namespace
}  // namespace veravox
