// SPDX-License-Identifier: Apache-2.0
#include "prepare/model_input_text.h"

#include "features/field_text.h"
#include "features/recipe_text.h"

namespace veravox {

ModelInputSpec ParseModelInput(std::string_view text) {
  using ShortWindow = ModelInputSpec::ShortWindow;
  ModelInputSpec spec;
  ReadFields(text, [&](std::string_view field, std::string_view value) {
    if (field == "window_samples") {
      ReadNumber(field, value, spec.window_samples);
    } else if (field == "hop_samples") {
      ReadNumber(field, value, spec.hop_samples);
    } else if (field == "short_window") {
      ReadChoice(field, value, spec.short_window,
                 {{"repeat", ShortWindow::kRepeat},
                  {"repeat_sound", ShortWindow::kRepeatSound},
                  {"zero_pad", ShortWindow::kZeroPad}});
    } else {
      ReadRecipeField(spec.recipe, field, value);
    }
  });
  return spec;
}

}  // namespace veravox
