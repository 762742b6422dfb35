// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace veravox {

// Name and version of each loaded FFmpeg library.
std::vector<std::pair<std::string, std::string>> LibraryVersions();

}  // namespace veravox
