// SPDX-License-Identifier: Apache-2.0
#include "prepare/model_input_text.h"

#include <gtest/gtest.h>

#include <string>

#include "stage_error.h"

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
  for (const char* text : {"window_samples=5 s", "window_samples=1e5", "hop_samples=", "short_window=mirror",
                           "fft_size=512.5", "window_sample=80000"}) {
    const std::string field = std::string(text).substr(0, std::string(text).find('='));
    try {
      ParseModelInput(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const StageError& error) {
      EXPECT_NE(std::string(error.what()).find(field), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace veravox
