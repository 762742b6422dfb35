// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by the decoder tests: the generated media, and a decoder run over a whole file.

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "decode/decoder.h"

namespace veravox::test {

using ByteVector = std::vector<uint8_t>;

inline ByteVector Joined(std::initializer_list<ByteVector> parts) {
  ByteVector joined;
  for (const ByteVector& part : parts) joined.insert(joined.end(), part.begin(), part.end());
  return joined;
}

inline ByteVector Noise(size_t count, uint32_t state) {
  ByteVector bytes(count);
  for (uint8_t& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

inline ByteVector ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<float> ReadFloats(const std::string& path) {
  const ByteVector bytes = ReadFile(path);
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::copy_n(bytes.begin(), floats.size() * sizeof(float), reinterpret_cast<uint8_t*>(floats.data()));
  return floats;
}

struct MediaFile {
  std::string kind;
  std::string path;
  std::string reference;  // empty if ffmpeg decodes nothing
  int sample_rate_hz = 0;

  ByteVector bytes() const { return ReadFile(path); }
};

// Files of one kind in the index that scripts/make-decoder-media.mjs writes. Throws if there are none.
inline std::vector<MediaFile> MediaOfKind(const std::string& kind) {
  const char* directory = std::getenv("VERAVOX_MEDIA_DIR");
  if (directory == nullptr) {
    throw std::runtime_error(
        "VERAVOX_MEDIA_DIR is not set: run `node scripts/make-decoder-media.mjs DIRECTORY` and set it to "
        "DIRECTORY");
  }
  const std::string root = std::string(directory) + "/";
  const ByteVector text = ReadFile(root + "index.tsv");
  std::istringstream index(std::string(text.begin(), text.end()));
  std::vector<MediaFile> files;
  for (MediaFile file; index >> file.kind >> file.path >> file.reference >> file.sample_rate_hz;) {
    if (file.kind != kind) continue;
    file.path = root + file.path;
    file.reference = file.reference == "-" ? "" : root + file.reference;
    files.push_back(file);
  }
  if (files.empty()) throw std::runtime_error("no media of kind " + kind + " in " + root);
  return files;
}

inline MediaFile MediaNamed(const std::string& kind, const std::string& name) {
  for (const MediaFile& file : MediaOfKind(kind)) {
    if (file.path.ends_with("/" + name)) return file;
  }
  throw std::runtime_error("no media file " + name);
}

struct Decoded {
  std::vector<float> samples;
  std::vector<int> rates_hz;  // each change of rate
  int64_t damaged_packets = 0;
  std::vector<Unheard> unheard;
  std::optional<StatedLength> stated_length;
  std::string container;
  std::string codec;
};

// A source: a Decoder or an AudioSource.
template <typename Source>
Decoded DrainSource(Source& source) {
  Decoded decoded;
  MonoBlock block;
  while (source.Next(block)) {
    decoded.samples.insert(decoded.samples.end(), block.samples.begin(), block.samples.end());
    if (decoded.rates_hz.empty() || decoded.rates_hz.back() != block.sample_rate_hz) {
      decoded.rates_hz.push_back(block.sample_rate_hz);
    }
  }
  decoded.damaged_packets = source.damaged_packets();
  decoded.unheard = source.unheard();
  decoded.stated_length = source.stated_length();
  decoded.container = source.container_name();
  decoded.codec = source.codec_name();
  return decoded;
}

inline Decoded Decode(std::span<const uint8_t> bytes, const DecodeOptions& options = {},
                      const StopSignal& stop = {}) {
  Decoder decoder(bytes, options, stop);
  return DrainSource(decoder);
}

// The error that decoding ends with; none if it succeeds.
inline std::optional<ErrorCode> DecodeError(std::span<const uint8_t> bytes, const DecodeOptions& options = {},
                                            const StopSignal& stop = {}) {
  try {
    Decode(bytes, options, stop);
    return std::nullopt;
  } catch (const StageError& error) {
    return error.code();
  }
}

inline std::string Describe(std::optional<ErrorCode> code) {
  return code ? ErrorCodeName(*code) : "no error";
}

// Over the samples that both have.
inline double Correlation(std::span<const float> a, std::span<const float> b) {
  double aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
    ab += double{a[i]} * b[i];
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

inline double LargestDifference(std::span<const float> a, std::span<const float> b) {
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    largest = std::max(largest, std::abs(double{a[i]} - b[i]));
  return largest;
}

}  // namespace veravox::test
