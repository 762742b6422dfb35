// SPDX-License-Identifier: Apache-2.0
#include "decode/wave_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace veravox {
namespace {

// ITU-T G.711, in 16 bits.
int16_t FromALaw(uint8_t code) {
  const int bits = code ^ 0x55;
  const int exponent = bits >> 4 & 7;
  const int mantissa = bits & 15;
  const int magnitude = exponent == 0 ? (2 * mantissa + 1) << 3 : (2 * mantissa + 33) << (exponent + 2);
  return static_cast<int16_t>((bits & 0x80) != 0 ? magnitude : -magnitude);
}

int16_t FromMuLaw(uint8_t code) {
  constexpr int kBias = 132;
  const int bits = code ^ 0xff;
  const int exponent = bits >> 4 & 7;
  const int mantissa = bits & 15;
  const int magnitude = ((2 * mantissa + 33) << (exponent + 2)) - kBias;
  return static_cast<int16_t>((bits & 0x80) != 0 ? -magnitude : magnitude);
}

template <int16_t (*kFrom)(uint8_t)>
int16_t FromTable(const uint8_t* in) {
  static const std::array<int16_t, 256> table = [] {
    std::array<int16_t, 256> values{};
    for (size_t code = 0; code < values.size(); ++code) values[code] = kFrom(static_cast<uint8_t>(code));
    return values;
  }();
  return table[*in];
}

// The exponent of the smallest power of two that few samples exceed.
template <typename T>
class ExponentCounts {
 public:
  void Add(const uint8_t* in, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      T sample;
      std::memcpy(&sample, in + i * sizeof sample, sizeof sample);
      if (sample == T{0} || !std::isfinite(sample)) continue;
      int exponent = 0;
      std::frexp(sample, &exponent);
      ++counts_[static_cast<size_t>(std::clamp(exponent, -kLimit, kLimit) + kLimit)];
      ++total_;
    }
  }

  int Loudest() const {
    uint64_t beyond = 0;
    int exponent = kLimit;
    for (; exponent > -kLimit; --exponent) {
      beyond += counts_[static_cast<size_t>(exponent + kLimit)];
      if (beyond * kFew > total_) break;
    }
    return exponent;
  }

 private:
  static constexpr int kLimit = 1100;  // beyond the exponent of any double
  static constexpr uint64_t kFew = 1000;

  std::array<uint64_t, 2 * kLimit + 1> counts_{};
  uint64_t total_ = 0;
};

float GainOf(int exponent) {
  // Resamplers and codecs take loud audio a little beyond full scale.
  if (exponent <= 1) return 1.0f;
  // Samples far beyond it are integers of one of these sizes.
  constexpr int kLouder = 8;
  if (exponent > kLouder) {
    for (const int bits : {15, 23, 31}) {
      if (exponent <= bits) return std::ldexp(1.0f, -bits);
    }
  }
  return std::ldexp(1.0f, -std::min(exponent, 126));
}

template <typename T>
float FloatGainOf(SplicedSource& samples, WaveSamples plain) {
  constexpr uint64_t kPlaces = 16;
  constexpr uint64_t kPlaceBytes = 256 * 1024;
  const uint64_t size = samples.size();
  const uint64_t last = size - std::min(size, kPlaceBytes);
  ExponentCounts<T> counts;
  std::vector<uint8_t> bytes(kPlaceBytes);
  for (uint64_t place = 0; place < kPlaces; ++place) {
    // Contiguous if the audio is too short to spread them.
    const uint64_t at = size <= kPlaces * kPlaceBytes ? place * kPlaceBytes : last / (kPlaces - 1) * place;
    if (at >= size) break;
    const uint64_t begin = at - at % sizeof(T);
    const size_t read = CopyFrom(samples, begin, bytes);
    counts.Add(plain.Convert(bytes.data(), read / sizeof(T)), read / sizeof(T));
  }
  return GainOf(counts.Loudest());
}

}  // namespace

SampleFormat WaveSamples::format() const {
  switch (coding_) {
    case WaveCoding::kU8:
      return SampleFormat::kU8;
    case WaveCoding::kS24:
      return SampleFormat::kS24;
    case WaveCoding::kS32:
      return SampleFormat::kS32;
    case WaveCoding::kF32:
      return SampleFormat::kF32;
    case WaveCoding::kF64:
      return SampleFormat::kF64;
    case WaveCoding::kS16:
    case WaveCoding::kALaw:
    case WaveCoding::kMuLaw:
      break;
  }
  return SampleFormat::kS16;
}

template <typename T, typename Read>
const uint8_t* WaveSamples::Each(const uint8_t* bytes, size_t count, Read read) {
  converted_.resize(count * sizeof(T));
  const size_t sample_bytes = SampleBytes(coding_);
  for (size_t i = 0; i < count; ++i) {
    const T sample = read(bytes + i * sample_bytes);
    std::memcpy(converted_.data() + i * sizeof(T), &sample, sizeof sample);
  }
  return converted_.data();
}

const uint8_t* WaveSamples::Swapped(const uint8_t* bytes, size_t count) {
  const size_t sample_bytes = SampleBytes(coding_);
  swapped_.resize(count * sample_bytes);
  for (size_t i = 0; i < count; ++i) {
    std::reverse_copy(bytes + i * sample_bytes, bytes + (i + 1) * sample_bytes,
                      swapped_.begin() + static_cast<ptrdiff_t>(i * sample_bytes));
  }
  return swapped_.data();
}

template <typename T>
const uint8_t* WaveSamples::Scaled(const uint8_t* bytes, size_t count) {
  return Each<T>(bytes, count, [gain = static_cast<T>(gain_)](const uint8_t* in) {
    T sample;
    std::memcpy(&sample, in, sizeof sample);
    return sample * gain;
  });
}

const uint8_t* WaveSamples::Convert(const uint8_t* bytes, size_t count) {
  if (coding_ == WaveCoding::kALaw) return Each<int16_t>(bytes, count, FromTable<FromALaw>);
  if (coding_ == WaveCoding::kMuLaw) return Each<int16_t>(bytes, count, FromTable<FromMuLaw>);
  if (big_endian_ && SampleBytes(coding_) > 1) bytes = Swapped(bytes, count);
  if (gain_ == 1.0f) return bytes;
  if (coding_ == WaveCoding::kF32) return Scaled<float>(bytes, count);
  if (coding_ == WaveCoding::kF64) return Scaled<double>(bytes, count);
  return bytes;
}

float FloatGain(ByteSource& source, const std::vector<ByteRange>& ranges, const WaveFormat& format) {
  SplicedSource samples(source, {}, ranges);
  const WaveSamples plain(*format.coding, format.big_endian);
  if (format.coding == WaveCoding::kF32) return FloatGainOf<float>(samples, plain);
  if (format.coding == WaveCoding::kF64) return FloatGainOf<double>(samples, plain);
  return 1.0f;
}

}  // namespace veravox
