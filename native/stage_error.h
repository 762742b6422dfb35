// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace veravox {

// Reasons why a stage fails. Each becomes one entry of the error catalogue on the JavaScript side
// (src/base/errors/catalogue.ts), under its ErrorCodeName.
enum class ErrorCode {
  kUnsupportedFormat,  // not one of the allowed containers or codecs
  kNoAudioStream,      // a container without an audio stream
  kUndecodable,        // the right format, but nothing could be decoded
  kTooManyChannels,
  kSampleRateOutOfRange,
  kTooLong,       // longer than the caller allows; measured_s is a lower bound of the duration
  kOutOfRange,    // a region beyond the audio; measured_s is the duration
  kTooShort,      // shorter than the caller needs; measured_s is the duration
  kCancelled,     // the caller's cancel flag was raised
  kDeadline,      // the caller's deadline passed
  kSourceFailed,  // the bytes of the file could not be read
  kInternal,      // our own fault, or out of memory
};

constexpr const char* ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnsupportedFormat:
      return "UNSUPPORTED_FORMAT";
    case ErrorCode::kNoAudioStream:
      return "NO_AUDIO_STREAM";
    case ErrorCode::kUndecodable:
      return "UNDECODABLE";
    case ErrorCode::kTooManyChannels:
      return "TOO_MANY_CHANNELS";
    case ErrorCode::kSampleRateOutOfRange:
      return "SAMPLE_RATE_OUT_OF_RANGE";
    case ErrorCode::kTooLong:
      return "TOO_LONG";
    case ErrorCode::kOutOfRange:
      return "OUT_OF_RANGE";
    case ErrorCode::kTooShort:
      return "TOO_SHORT";
    case ErrorCode::kCancelled:
      return "CANCELLED";
    case ErrorCode::kDeadline:
      return "DEADLINE";
    case ErrorCode::kSourceFailed:
      return "SOURCE_FAILED";
    case ErrorCode::kInternal:
      return "INTERNAL";
  }
  return "INTERNAL";
}

// The only exception that stages throw. `what()` is a sentence that includes the values.
class StageError : public std::runtime_error {
 public:
  StageError(ErrorCode code, const std::string& sentence, double measured_s = 0.0)
      : std::runtime_error(sentence), code_(code), measured_s_(measured_s) {}

  ErrorCode code() const { return code_; }
  // Seconds of audio seen; only meaningful for kTooLong, kTooShort and kOutOfRange.
  double measured_s() const { return measured_s_; }

 private:
  ErrorCode code_;
  double measured_s_;
};

}  // namespace veravox
