// SPDX-License-Identifier: Apache-2.0
#pragma once

// Helpers shared by the Node-API files: from JavaScript values to plain structs, and back.
#include <napi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "prepare/preparer.h"

namespace veravox {

inline Napi::Error ToJsError(Napi::Env env, const StageError& error) {
  Napi::Error js_error = Napi::Error::New(env, error.what());
  js_error.Set("code", Napi::String::New(env, ErrorCodeName(error.code())));
  js_error.Set("measuredS", Napi::Number::New(env, error.measured_s()));
  return js_error;
}

// Runs `work`; turns anything a stage throws into a JavaScript exception with a code.
template <typename Work>
auto Guarded(Napi::Env env, Work&& work) {
  try {
    return work();
  } catch (const StageError& error) {
    throw ToJsError(env, error);
  } catch (const Napi::Error&) {
    throw;
  } catch (const std::exception& error) {
    throw ToJsError(env, StageError(ErrorCode::kInternal, error.what()));
  }
}

[[noreturn]] inline void Misuse(Napi::Env env, const std::string& name, const std::string& expected) {
  throw Napi::TypeError::New(env, "Expected " + expected + " for " + name + ".");
}

inline double Number(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (!value.IsNumber() || !std::isfinite(value.As<Napi::Number>().DoubleValue())) {
    Misuse(object.Env(), name, "a finite number");
  }
  return value.As<Napi::Number>().DoubleValue();
}

inline std::string Text(const Napi::CallbackInfo& info, size_t index, const char* name) {
  if (!info[index].IsString()) Misuse(info.Env(), name, "a string");
  return info[index].As<Napi::String>();
}

// A typed array's memory, even if it belongs to a SharedArrayBuffer.
template <typename T>
std::span<T> View(Napi::Env env, const Napi::Value& value, napi_typedarray_type type, const char* name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) {
    Misuse(env, name,
           type == napi_uint8_array     ? "a Uint8Array"
           : type == napi_int32_array   ? "an Int32Array"
           : type == napi_float64_array ? "a Float64Array"
                                        : "a Float32Array");
  }
  void* data = nullptr;
  size_t length = 0;
  if (napi_get_typedarray_info(env, value, nullptr, &length, &data, nullptr, nullptr) != napi_ok) {
    throw Napi::Error::New(env);
  }
  return {static_cast<T*>(data), length};
}

inline Napi::Array ToJsWindows(Napi::Env env, const std::vector<AudioWindow>& windows) {
  auto result = Napi::Array::New(env, windows.size());
  for (uint32_t i = 0; i < windows.size(); ++i) {
    auto window = Napi::Object::New(env);
    window.Set("startS", windows[i].start_s);
    window.Set("endS", windows[i].end_s);
    result.Set(i, window);
  }
  return result;
}

inline Napi::Array ToJsSkipped(Napi::Env env, const std::vector<SkippedStretch>& stretches) {
  auto skipped = Napi::Array::New(env, stretches.size());
  for (uint32_t i = 0; i < stretches.size(); ++i) {
    const Napi::HandleScope scope(env);
    auto stretch = Napi::Object::New(env);
    stretch.Set("startS", stretches[i].start_s);
    stretch.Set("endS", stretches[i].end_s);
    stretch.Set("nonSpeechPercent", stretches[i].non_speech_percent);
    stretch.Set("windows", ToJsWindows(env, stretches[i].windows));
    skipped.Set(i, stretch);
  }
  return skipped;
}

inline constexpr double kMostChannels = 1e6;  // far beyond the range of an integer
inline constexpr double kLongestS = 1e9;      // far below the range of a number of samples

// Ten milliseconds or longer, in order, from the start of the region on.
inline std::vector<AudioWindow> ToWindows(const Napi::Object& given, double region_start_s) {
  const Napi::Value listed = given.Get("windows");
  if (!listed.IsArray()) Misuse(given.Env(), "windows", "an array");
  std::vector<AudioWindow> windows;
  double earliest_s = region_start_s;
  for (uint32_t i = 0; i < listed.As<Napi::Array>().Length(); ++i) {
    const Napi::HandleScope scope(given.Env());
    const Napi::Value entry = listed.As<Napi::Array>().Get(i);
    if (!entry.IsObject()) Misuse(given.Env(), "windows", "objects");
    const AudioWindow window{Number(entry.As<Napi::Object>(), "startS"),
                             Number(entry.As<Napi::Object>(), "endS")};
    if (window.start_s < earliest_s || window.end_s < window.start_s + 0.01 || window.end_s > kLongestS) {
      Misuse(given.Env(), "windows", "an order");
    }
    earliest_s = window.start_s;
    windows.push_back(window);
  }
  return windows;
}

inline PrepareOptions ToOptions(const Napi::Object& given) {
  PrepareOptions options;
  options.min_duration_s = Number(given, "minDurationS");
  options.decode.limits.max_duration_s = Number(given, "maxDurationS");
  options.silence_threshold_percent = Number(given, "silenceThresholdPercent");
  DecodeRegion& region = options.decode.region;
  if (given.Has("startS")) region.start_s = Number(given, "startS");
  if (given.Has("endS")) region.end_s = Number(given, "endS");
  if (region.start_s < 0.0 || (region.end_s && *region.end_s < region.start_s)) {
    Misuse(given.Env(), "startS and endS", "a region");
  }
  if (given.Has("channel")) {
    const double channel = Number(given, "channel");
    if (channel < 0.0 || channel > kMostChannels) Misuse(given.Env(), "channel", "the index of a channel");
    options.decode.channel = static_cast<int>(channel);
  }
  if (given.Has("windows")) options.windows = ToWindows(given, region.start_s);
  return options;
}

inline StopSignal ToStopSignal(const Napi::Object& given, std::span<int32_t> flag) {
  constexpr double kYearMs = 365.0 * 24 * 3600 * 1000;  // far beyond the range of the clock's integer
  const auto time_limit =
      std::chrono::duration<double, std::milli>(std::clamp(Number(given, "timeLimitMs"), 0.0, kYearMs));
  return {flag.data(),
          StopSignal::Clock::now() + std::chrono::duration_cast<StopSignal::Clock::duration>(time_limit)};
}

inline Napi::Object ToJsInput(Napi::Env env, const PreparedInput& input) {
  auto result = Napi::Object::New(env);
  result.Set("windowIndex", static_cast<double>(input.window_index));
  result.Set("inputIndex", input.input_index);
  result.Set("inputsInWindow", input.inputs_in_window);
  result.Set("startS", input.start_s);
  result.Set("endS", input.end_s);
  if (input.is_closer) result.Set("isCloser", true);
  result.Set("fileProgress", input.file_progress);
  if (!input.codec.empty()) {
    result.Set("codec", Napi::String::New(env, input.codec.data(), input.codec.size()));
    result.Set("codedBitsPerS", input.coded_bits_per_s);
  }
  return result;
}

inline Napi::Array ToJsUnheard(Napi::Env env, const std::vector<Unheard>& parts) {
  auto unheard = Napi::Array::New(env, parts.size());
  for (uint32_t i = 0; i < parts.size(); ++i) {
    const Napi::HandleScope scope(env);
    auto part = Napi::Object::New(env);
    part.Set("bytes", static_cast<double>(parts[i].bytes));
    part.Set("atS", parts[i].at_s);
    part.Set("what", parts[i].what);
    unheard.Set(i, part);
  }
  return unheard;
}

inline Napi::Object ToJsLength(Napi::Env env, const StatedLength& length) {
  auto result = Napi::Object::New(env);
  if (length.stated_s) result.Set("statedS", *length.stated_s);
  result.Set("foundS", length.found_s);
  return result;
}

inline Napi::Object ToJsSummary(Napi::Env env, const PrepareSummary& summary) {
  auto result = Napi::Object::New(env);
  result.Set("durationS", summary.duration_s);
  result.Set("channels", summary.channels);
  result.Set("damagedPackets", static_cast<double>(summary.damaged_packets));
  if (summary.damaged_packets > 0) {
    result.Set("damagedFromS", summary.damaged_from_s);
    result.Set("damagedToS", summary.damaged_to_s);
  }
  auto damaged_at_s = Napi::Array::New(env, summary.damaged_at_s.size());
  for (uint32_t i = 0; i < summary.damaged_at_s.size(); ++i) damaged_at_s.Set(i, summary.damaged_at_s[i]);
  result.Set("damagedAtS", damaged_at_s);
  if (summary.has_inverted_channels) result.Set("hasInvertedChannels", true);
  if (!summary.unheard.empty()) result.Set("unheard", ToJsUnheard(env, summary.unheard));
  if (summary.stated_length) result.Set("statedLength", ToJsLength(env, *summary.stated_length));
  result.Set("speechRatio", summary.speech_ratio);
  result.Set("clippedRatio", summary.clipped_ratio);
  if (summary.high_band_drop_db) result.Set("highBandDropDb", *summary.high_band_drop_db);
  if (summary.noise_gap_db) result.Set("noiseGapDb", *summary.noise_gap_db);
  result.Set("skipped", ToJsSkipped(env, summary.skipped));
  result.Set("decodeMs", summary.decode_ms);
  result.Set("featuresMs", summary.features_ms);
  return result;
}

}  // namespace veravox
