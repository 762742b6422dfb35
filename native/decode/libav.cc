// SPDX-License-Identifier: Apache-2.0
#include "decode/libav.h"

#include <mutex>

namespace veravox {
namespace {

// The largest block that libav may allocate. Sample tables and packets of a few bytes can ask for gigabytes;
// the index of ten hours of AAC takes 40 MB. A hostile file gets three or four such blocks.
constexpr size_t kMaxAllocationBytes = 64 * 1024 * 1024;

}  // namespace

void SetUpLibavOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    av_log_set_level(AV_LOG_QUIET);
    av_max_alloc(kMaxAllocationBytes);
  });
}

}  // namespace veravox
