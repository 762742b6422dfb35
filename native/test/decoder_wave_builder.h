// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace veravox::test {

// WAV files byte by byte, including wrong ones.
struct WaveBuilder {
  uint16_t tag = 1;
  uint16_t channels = 1;
  uint32_t sample_rate_hz = 16000;
  uint16_t bits = 16;
  int block_bytes = -1;            // -1: derived from channels and bits
  int64_t stated_data_bytes = -1;  // -1: the real size
  std::string_view riff = "RIFF";
  bool has_ds64 = true;              // of RF64 and BW64
  int64_t stated_bytes_64 = -1;      // in it; -1: the real size
  std::vector<uint8_t> before_data;  // chunks between "fmt " and "data"
  std::vector<uint8_t> after_data;
  std::vector<uint8_t> extension;  // of "fmt ", cbSize included

  template <typename T>
  static void Append(std::vector<uint8_t>& bytes, T value) {
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
  }

  static void AppendText(std::vector<uint8_t>& bytes, std::string_view text) {
    for (const char letter : text) bytes.push_back(static_cast<uint8_t>(letter));
  }

  static std::vector<uint8_t> Chunk(std::string_view id, size_t body_bytes) {
    std::vector<uint8_t> chunk;
    AppendText(chunk, id);
    Append(chunk, static_cast<uint32_t>(body_bytes));
    chunk.resize(chunk.size() + body_bytes + (body_bytes & 1), 0x55);
    return chunk;
  }

  // WAVEFORMATEXTENSIBLE's part for the given tag.
  void MakeExtensible(uint32_t channel_mask) {
    Append<uint16_t>(extension, 22);
    Append<uint16_t>(extension, bits);
    Append<uint32_t>(extension, channel_mask);
    Append<uint16_t>(extension, tag);
    AppendText(extension, std::string_view("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14));
    tag = 0xfffe;
  }

  // In the byte order of the file.
  template <typename T>
  void Put(std::vector<uint8_t>& file, T value) const {
    Append(file, value);
    if (riff == "RIFX") std::reverse(file.end() - sizeof value, file.end());
  }

  template <typename T>
  std::vector<uint8_t> Build(const std::vector<T>& samples) const {
    std::vector<uint8_t> data;
    for (const T sample : samples) Put(data, sample);
    const auto block = static_cast<uint16_t>(block_bytes >= 0 ? block_bytes : channels * bits / 8);
    const auto real = static_cast<int64_t>(data.size());

    std::vector<uint8_t> file;
    AppendText(file, riff);
    Put<uint32_t>(file, 0xffffffff);
    AppendText(file, "WAVE");
    if (has_ds64 && (riff == "RF64" || riff == "BW64")) {
      AppendText(file, "ds64");
      Put<uint32_t>(file, 28);
      const auto size_64 = static_cast<uint64_t>(stated_bytes_64 >= 0 ? stated_bytes_64 : real);
      for (const uint64_t value : {uint64_t{0}, size_64, uint64_t{0}}) Put(file, value);
      Put<uint32_t>(file, 0);
    }
    AppendText(file, "fmt ");
    Put(file, static_cast<uint32_t>(16 + extension.size()));
    Put(file, tag);
    Put(file, channels);
    Put(file, sample_rate_hz);
    Put(file, sample_rate_hz * block);
    Put(file, block);
    Put(file, bits);
    file.insert(file.end(), extension.begin(), extension.end());
    file.insert(file.end(), before_data.begin(), before_data.end());
    AppendText(file, "data");
    Put(file, static_cast<uint32_t>(stated_data_bytes >= 0 ? stated_data_bytes : real));
    file.insert(file.end(), data.begin(), data.end());
    file.insert(file.end(), after_data.begin(), after_data.end());
    return file;
  }
};

}  // namespace veravox::test
