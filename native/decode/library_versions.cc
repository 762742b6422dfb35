// SPDX-License-Identifier: Apache-2.0
#include "decode/library_versions.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libswresample/swresample.h>
}

namespace veravox {
namespace {

std::string Dotted(unsigned version) {
  return std::to_string(AV_VERSION_MAJOR(version)) + "." + std::to_string(AV_VERSION_MINOR(version)) + "." +
         std::to_string(AV_VERSION_MICRO(version));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> LibraryVersions() {
  return {{"libavformat", Dotted(avformat_version())},
          {"libavcodec", Dotted(avcodec_version())},
          {"libavutil", Dotted(avutil_version())},
          {"libswresample", Dotted(swresample_version())}};
}

}  // namespace veravox
