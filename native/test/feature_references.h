// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "decoder_media.h"

namespace veravox::test {

// The output of test/reference/features.py.
inline std::string FeatureReference(const std::string& name) {
  return std::string(VERAVOX_SOURCE_DIR) + "/test/reference/features/" + name;
}

inline std::vector<float> ReferenceFloats(const std::string& name) {
  return ReadFloats(FeatureReference(name));
}

}  // namespace veravox::test
