// SPDX-License-Identifier: Apache-2.0
#pragma once

// One portable binary with faster paths chosen at run time. A kernel is written once as a VERAVOX_INLINE
// template and instantiated inside one wrapper function per level; the wrapper carries the VERAVOX_TARGET_*
// attribute of its level, and everything inlined into it is compiled for that level. Unlike target_clones
// this needs no ifunc (which musl lacks and sanitizers dislike), and tests can run every level of the
// processor.

#define VERAVOX_INLINE inline __attribute__((always_inline))

#if defined(__x86_64__)
#define VERAVOX_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define VERAVOX_TARGET_AVX512 __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define VERAVOX_TARGET_AVX2
#define VERAVOX_TARGET_AVX512
#endif

namespace veravox {

// The baseline is what the compiler assumes anyway: SSE2 on x86-64, NEON on AArch64, four floats at a time.
enum class SimdLevel { kBaseline, kAvx2, kAvx512 };

// The highest level of this processor and its operating system.
inline SimdLevel BestSimdLevel() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return SimdLevel::kBaseline;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return SimdLevel::kAvx512;
  }
  return SimdLevel::kAvx2;
#else
  return SimdLevel::kBaseline;
#endif
}

}  // namespace veravox
