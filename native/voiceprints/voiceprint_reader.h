// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace veravox {

constexpr size_t kVoiceprintSize = 256;

// An error in a list; `what()` begins with the position of the entry, if there is one.
class VoiceprintListError : public std::runtime_error {
 public:
  VoiceprintListError(int64_t entry, const std::string& problem)
      : std::runtime_error(entry < 0 ? problem : "entry " + std::to_string(entry) + ": " + problem) {}
};

struct ListedVoiceprint {
  std::string_view id;  // as in the text, including quotes and escapes
  std::array<float, kVoiceprintSize> values;
};

// Reads a JSON array of {"id": "...", "voice_vector": ...}, entry by entry, without building the list or an
// entry in memory. A voice vector is an array of 256 numbers, or base64 (either alphabet, padded or not) of
// 256 little-endian float32; "embedding" is another name for it. Other members are ignored.
class VoiceprintReader {
 public:
  static constexpr size_t kMostIdBytes = 512;

  // `text` is used in place and outlives the reader.
  VoiceprintReader(std::span<const uint8_t> text, int64_t most_entries)
      : at_(reinterpret_cast<const char*>(text.data())), end_(at_ + text.size()), most_(most_entries) {}

  // The next entry; false at the end of a list. Throws VoiceprintListError.
  bool Next(ListedVoiceprint& voiceprint);
  int64_t count() const { return count_; }

 private:
  [[noreturn]] void Fail(const std::string& problem) const;
  char Peek();
  void Expect(char wanted, const char* where);
  std::string_view TakeString();
  void SkipValue();
  void TakeEntry(ListedVoiceprint& voiceprint);
  void TakeVector(ListedVoiceprint& voiceprint);
  void TakeNumbers(ListedVoiceprint& voiceprint);
  float TakeNumber(size_t index);
  void DecodeBase64(std::string_view quoted, ListedVoiceprint& voiceprint) const;
  void RequireDirection(const ListedVoiceprint& voiceprint) const;

  const char* at_;
  const char* end_;
  const int64_t most_;
  int64_t count_ = 0;
  bool begun_ = false;
};

}  // namespace veravox
