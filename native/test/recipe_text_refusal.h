// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "stage_error.h"

namespace veravox {

// Expects that each text is refused, with its field (before the "=") in the message.
inline void ExpectRefusalNamingTheField(const std::function<void(std::string_view)>& parse,
                                        std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) {
    try {
      parse(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const StageError& error) {
      EXPECT_NE(std::string_view(error.what()).find(text.substr(0, text.find('='))), std::string_view::npos)
          << error.what();
    }
  }
}

}  // namespace veravox
