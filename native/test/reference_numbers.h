// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace veravox {

/** A file written by test/reference/features.py. */
inline std::string ReadFile(const std::string& name) {
  std::ifstream file(std::string(VERAVOX_SOURCE_DIR) + "/test/reference/features/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name << " is missing";
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<float> ReadFloats(const std::string& name) {
  const std::string bytes = ReadFile(name);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::copy_n(bytes.data(), values.size() * sizeof(float), reinterpret_cast<char*>(values.data()));
  return values;
}

}  // namespace veravox
