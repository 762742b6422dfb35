// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "stage_error.h"

namespace veravox {

// Lines of `field=value`: the form in which both serving and training hand a recipe to the stages. Values
// are whole numbers, lists of them separated by commas, decimal numbers, true|false, or one of a field's
// words. Everything here throws StageError (kInternal) that names the field.

// Calls `read` with the field and the value of each line.
template <typename Read>
void ReadFields(std::string_view text, const Read& read) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty()) continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      throw StageError(ErrorCode::kInternal,
                       "Feature recipe: \"" + std::string(line) + "\" is not field=value.");
    }
    read(line.substr(0, equals), line.substr(equals + 1));
  }
}

[[noreturn]] inline void RefuseValue(std::string_view field, std::string_view value,
                                     const std::string& expectation) {
  throw StageError(ErrorCode::kInternal, "Feature recipe: " + std::string(field) + " must be " + expectation +
                                             " but is \"" + std::string(value) + "\".");
}

template <typename Number>
void ReadNumber(std::string_view field, std::string_view value, Number& target) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), target);
  if (error != std::errc() || end != value.data() + value.size()) {
    RefuseValue(field, value, std::is_integral_v<Number> ? "a whole number" : "a number");
  }
}

// An empty value is an empty list.
inline void ReadNumbers(std::string_view field, std::string_view value, std::vector<int>& target) {
  target.clear();
  for (size_t start = 0; !value.empty() && start <= value.size();) {
    const size_t end = std::min(value.find(',', start), value.size());
    ReadNumber(field, value.substr(start, end - start), target.emplace_back());
    start = end + 1;
  }
}

template <typename Choice>
void ReadChoice(std::string_view field, std::string_view value, Choice& target,
                std::initializer_list<std::pair<std::string_view, Choice>> choices) {
  std::string words;
  for (const auto& [word, choice] : choices) {
    if (word == value) {
      target = choice;
      return;
    }
    words += (words.empty() ? "" : ", ") + std::string(word);
  }
  RefuseValue(field, value, "one of " + words);
}

}  // namespace veravox
