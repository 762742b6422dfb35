// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace veravox::test {

// WAV files byte by byte, wrong ones included.
struct WaveBuilder {
  uint16_t tag = 1;
  uint16_t channels = 1;
  uint32_t sample_rate_hz = 16000;
  uint16_t bits = 16;
  int block_bytes = -1;            // -1: what belongs to channels and bits
  int64_t stated_data_bytes = -1;  // -1: the real size
  std::string_view riff = "RIFF";
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

  template <typename T>
  std::vector<uint8_t> Build(const std::vector<T>& samples) const {
    std::vector<uint8_t> data(samples.size() * sizeof(T));
    if (!data.empty()) std::memcpy(data.data(), samples.data(), data.size());
    const auto block = static_cast<uint16_t>(block_bytes >= 0 ? block_bytes : channels * bits / 8);

    std::vector<uint8_t> file;
    AppendText(file, riff);
    Append<uint32_t>(file, 0xffffffff);
    AppendText(file, "WAVE");
    if (riff != "RIFF") {
      AppendText(file, "ds64");
      Append<uint32_t>(file, 28);
      for (const uint64_t value : {uint64_t{0}, uint64_t{data.size()}, uint64_t{0}}) Append(file, value);
      Append<uint32_t>(file, 0);
    }
    AppendText(file, "fmt ");
    Append<uint32_t>(file, static_cast<uint32_t>(16 + extension.size()));
    Append(file, tag);
    Append(file, channels);
    Append(file, sample_rate_hz);
    Append(file, sample_rate_hz * block);
    Append(file, block);
    Append(file, bits);
    file.insert(file.end(), extension.begin(), extension.end());
    file.insert(file.end(), before_data.begin(), before_data.end());
    AppendText(file, "data");
    Append(file, static_cast<uint32_t>(stated_data_bytes >= 0 ? stated_data_bytes
                                                              : static_cast<int64_t>(data.size())));
    file.insert(file.end(), data.begin(), data.end());
    file.insert(file.end(), after_data.begin(), after_data.end());
    return file;
  }
};

}  // namespace veravox::test
