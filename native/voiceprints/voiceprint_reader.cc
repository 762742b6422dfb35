// SPDX-License-Identifier: Apache-2.0
#include "voiceprints/voiceprint_reader.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

namespace veravox {
namespace {

constexpr int kMostDepth = 16;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The length of the UTF-8 sequence at `at`; 0 if invalid.
size_t Utf8Length(const char* at, const char* end) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(at[i]); };
  const uint8_t first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length == 0 || static_cast<size_t>(end - at) < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and code points beyond Unicode.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
  if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
  return length;
}

int Base64Value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (IsDigit(c)) return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

}  // namespace

void VoiceprintReader::Fail(const std::string& problem) const {
  throw VoiceprintListError(begun_ ? count_ : -1, problem);
}

// The next character that is not a space; 0 at the end of the text.
char VoiceprintReader::Peek() {
  while (at_ < end_ && IsSpace(*at_)) ++at_;
  return at_ < end_ ? *at_ : '\0';
}

void VoiceprintReader::Expect(char wanted, const char* where) {
  if (Peek() != wanted) Fail(std::string("no ") + wanted + " " + where);
  ++at_;
}

bool VoiceprintReader::Next(ListedVoiceprint& voiceprint) {
  if (!begun_) {
    Expect('[', "at its beginning");
    begun_ = true;
    if (Peek() == ']') {
      begun_ = false;
      Fail("an empty list");
    }
  } else if (Peek() == ',') {
    ++at_;
  } else {
    Expect(']', "or , after an entry");
    begun_ = false;
    if (Peek() != '\0' || at_ < end_) Fail("text after the list");
    return false;
  }
  if (count_ == most_) {
    begun_ = false;
    Fail("more than " + std::to_string(most_) + " entries");
  }
  TakeEntry(voiceprint);
  ++count_;
  return true;
}

void VoiceprintReader::TakeEntry(ListedVoiceprint& voiceprint) {
  Expect('{', "at its beginning");
  bool has_id = false;
  bool has_vector = false;
  for (bool more = Peek() != '}'; more;) {
    Peek();
    const std::string_view name = TakeString();
    Expect(':', "after the name of a member");
    if (name == "\"id\"") {
      if (has_id) Fail("two ids");
      has_id = true;
      Peek();
      voiceprint.id = TakeString();
      if (voiceprint.id.size() <= 2) Fail("an empty id");
      if (voiceprint.id.size() > kMostIdBytes + 2) Fail("an id of more than 512 bytes");
    } else if (name == "\"voice_vector\"" || name == "\"embedding\"") {
      if (has_vector) Fail("two voice vectors");
      has_vector = true;
      TakeVector(voiceprint);
    } else {
      SkipValue();
    }
    more = Peek() == ',';
    if (more) ++at_;
  }
  Expect('}', "or , after a member");
  if (!has_id) Fail("no id");
  if (!has_vector) Fail("no voice_vector");
  RequireDirection(voiceprint);
}

// Includes the quotes. Checks escapes and keeps them as they are.
std::string_view VoiceprintReader::TakeString() {
  const char* const begin = at_;
  if (at_ == end_ || *at_ != '"') Fail("no text where one was expected");
  ++at_;
  while (at_ < end_ && *at_ != '"') {
    const auto byte = static_cast<uint8_t>(*at_);
    if (byte < 0x20) Fail("a control character in a text");
    if (byte == '\\') {
      const auto left = static_cast<size_t>(end_ - at_);
      if (left >= 2 && std::strchr("\"\\/bfnrt", at_[1]) != nullptr && at_[1] != '\0') {
        at_ += 2;
      } else if (left >= 6 && at_[1] == 'u' && std::all_of(at_ + 2, at_ + 6, IsHex)) {
        at_ += 6;
      } else {
        Fail("an unknown escape in a text");
      }
      continue;
    }
    const size_t length = byte < 0x80 ? 1 : Utf8Length(at_, end_);
    if (length == 0) Fail("a text that is not UTF-8");
    at_ += length;
  }
  if (at_ == end_) Fail("a text without an end");
  ++at_;
  return {begin, static_cast<size_t>(at_ - begin)};
}

void VoiceprintReader::SkipValue() {
  int depth = 0;
  do {
    const char c = Peek();
    if (c == '"') {
      TakeString();
    } else if (c == '[' || c == '{') {
      if (++depth > kMostDepth) Fail("a member that is nested too deep");
      ++at_;
    } else if (depth > 0 && (c == ']' || c == '}')) {
      --depth;
      ++at_;
    } else if (depth > 0 && (c == ',' || c == ':')) {
      ++at_;
    } else {
      const char* const begin = at_;
      while (at_ < end_ && (IsDigit(*at_) || std::isalpha(static_cast<unsigned char>(*at_)) || *at_ == '-' ||
                            *at_ == '+' || *at_ == '.')) {
        ++at_;
      }
      if (at_ == begin) Fail("a member without a value");
    }
  } while (depth > 0);
}

void VoiceprintReader::TakeVector(ListedVoiceprint& voiceprint) {
  const char c = Peek();
  if (c == '[') {
    TakeNumbers(voiceprint);
  } else if (c == '"') {
    DecodeBase64(TakeString(), voiceprint);
  } else {
    Fail("a voice_vector that is neither a list nor a text");
  }
}

void VoiceprintReader::TakeNumbers(ListedVoiceprint& voiceprint) {
  ++at_;
  size_t count = 0;
  for (bool more = Peek() != ']'; more;) {
    if (count == kVoiceprintSize) Fail("more than 256 numbers");
    voiceprint.values[count] = TakeNumber(count);
    ++count;
    more = Peek() == ',';
    if (more) ++at_;
  }
  Expect(']', "or , after a number");
  if (count != kVoiceprintSize) Fail(std::to_string(count) + " numbers instead of 256");
}

float VoiceprintReader::TakeNumber(size_t index) {
  Peek();
  const char* first = at_;
  if (first < end_ && *first == '-') ++first;
  if (first == end_ || !IsDigit(*first)) Fail("number " + std::to_string(index) + " is not one");
  if (*first == '0' && first + 1 < end_ && IsDigit(first[1])) {
    Fail("number " + std::to_string(index) + " begins with a zero");
  }
  double value = 0.0;
  const auto [next, error] = std::from_chars(at_, end_, value);
  // Out of range includes numbers too close to zero for their type.
  const bool is_tiny = error == std::errc::result_out_of_range &&
                       std::string_view(at_, next).find("e-") != std::string_view::npos;
  const float number = is_tiny ? 0.0f : static_cast<float>(value);
  if ((error != std::errc() && !is_tiny) || !std::isfinite(number)) {
    Fail("number " + std::to_string(index) + " is not finite as float32");
  }
  at_ = next;
  return number;
}

void VoiceprintReader::DecodeBase64(std::string_view quoted, ListedVoiceprint& voiceprint) const {
  static_assert(std::endian::native == std::endian::little);
  std::string_view text = quoted.substr(1, quoted.size() - 2);
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  constexpr size_t kBytes = kVoiceprintSize * sizeof(float);
  std::array<uint8_t, kBytes> bytes;
  size_t count = 0;
  uint32_t bits = 0;
  int held = 0;
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    // Some programs escape every slash.
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '/') ++i;
    const int value = Base64Value(text[i]);
    if (value < 0) Fail("a voice_vector that is not base64");
    ++characters;
    bits = bits << 6 | static_cast<uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    if (count == kBytes) Fail("base64 of more than 1024 bytes");
    bytes[count++] = static_cast<uint8_t>(bits >> held);
  }
  if (count != kBytes || characters % 4 == 1) {
    Fail("base64 of " + std::to_string(count) + " bytes instead of 1024");
  }
  std::memcpy(voiceprint.values.data(), bytes.data(), kBytes);
  for (size_t i = 0; i < kVoiceprintSize; ++i) {
    if (!std::isfinite(voiceprint.values[i]))
      Fail("number " + std::to_string(i) + " is not finite as float32");
  }
}

void VoiceprintReader::RequireDirection(const ListedVoiceprint& voiceprint) const {
  const auto is_zero = [](float value) { return value == 0.0f; };
  if (std::all_of(voiceprint.values.begin(), voiceprint.values.end(), is_zero)) Fail("256 zeros");
}

}  // namespace veravox
