// SPDX-License-Identifier: Apache-2.0
#include "live_binding.h"

#include <map>

#include "prepare/model_input_text.h"

namespace veravox {
namespace {

uint32_t StreamId(const Napi::CallbackInfo& info) {
  if (!info[0].IsNumber()) Misuse(info.Env(), "id", "a number");
  return info[0].As<Napi::Number>();
}

LiveFormat ToFormat(const Napi::Object& given) {
  LiveFormat format;
  const Napi::Value encoding = given.Get("encoding");
  const std::string name = encoding.IsString() ? encoding.As<Napi::String>().Utf8Value() : "";
  static const std::map<std::string, LiveFormat::Encoding> encodings = {
      {"pcm16", LiveFormat::Encoding::kPcm16},
      {"mulaw", LiveFormat::Encoding::kMuLaw},
      {"alaw", LiveFormat::Encoding::kALaw},
      {"opus", LiveFormat::Encoding::kOpus}};
  const auto found = encodings.find(name);
  if (found == encodings.end()) Misuse(given.Env(), "encoding", "pcm16, mulaw, alaw or opus");
  format.encoding = found->second;
  format.sample_rate_hz = static_cast<int>(Number(given, "sampleRateHz"));
  format.channels = static_cast<int>(Number(given, "channels"));
  format.pre_skip = static_cast<int>(Number(given, "preSkip"));
  if (format.channels < 1 || format.channels > 2) Misuse(given.Env(), "channels", "1 or 2");
  if (format.pre_skip < 0 || format.pre_skip > 0xffff) Misuse(given.Env(), "preSkip", "16 bits");
  return format;
}

}  // namespace

Napi::Function LiveStreamObject::Define(Napi::Env env) {
  return DefineClass(
      env, "LiveStream",
      {InstanceMethod<&LiveStreamObject::Push>("push"), InstanceMethod<&LiveStreamObject::Finish>("finish"),
       InstanceMethod<&LiveStreamObject::LookCloser>("lookCloser"),
       InstanceMethod<&LiveStreamObject::Advance>("advance"), InstanceMethod<&LiveStreamObject::Next>("next"),
       InstanceMethod<&LiveStreamObject::State>("state"),
       InstanceMethod<&LiveStreamObject::Summary>("summary"),
       InstanceMethod<&LiveStreamObject::Release>("release")});
}

// new LiveStream(id, input, format, options, stopFlag)
LiveStreamObject::LiveStreamObject(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<LiveStreamObject>(info) {
  const Napi::Env env = info.Env();
  const uint32_t id = StreamId(info);
  const std::string input = Text(info, 1, "input");
  if (!info[2].IsObject()) Misuse(env, "format", "an object");
  if (!info[3].IsObject()) Misuse(env, "options", "an object");
  const auto flag = View<int32_t>(env, info[4], napi_int32_array, "stopFlag");
  if (flag.empty()) Misuse(env, "stopFlag", "an Int32Array with one element");
  const LiveFormat format = ToFormat(info[2].As<Napi::Object>());
  const auto given = info[3].As<Napi::Object>();
  const PrepareOptions options = ToOptions(given);
  const StopSignal stop = ToStopSignal(given, flag);
  Guarded(env, [&] {
    bool is_new = false;
    stream_ = LiveStreams::OfProcess().Get(id, ParseModelInput(input), is_new);
    lock_ = std::unique_lock(stream_->mutex);
    stream_->preparer.SetStop(stop);
    if (is_new) stream_->preparer.OpenLive(format, options);
  });
}

Preparer& LiveStreamObject::preparer(Napi::Env env) {
  if (!stream_) throw Napi::Error::New(env, "The stream was released.");
  return stream_->preparer;
}

// push(piece)
void LiveStreamObject::Push(const Napi::CallbackInfo& info) {
  const auto piece = View<uint8_t>(info.Env(), info[0], napi_uint8_array, "piece");
  Preparer& stream = preparer(info.Env());
  Guarded(info.Env(), [&] { stream.Push(piece); });
}

// finish(): no more pieces will follow
void LiveStreamObject::Finish(const Napi::CallbackInfo& info) {
  Preparer& stream = preparer(info.Env());
  Guarded(info.Env(), [&] { stream.FinishPushing(); });
}

// lookCloser({windows})
void LiveStreamObject::LookCloser(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsObject()) Misuse(env, "windows", "an object");
  const std::vector<AudioWindow> windows = ToWindows(info[0].As<Napi::Object>(), 0.0);
  Preparer& stream = preparer(env);
  Guarded(env, [&] { stream.LookCloser(windows); });
}

// advance() -> whether there is an input for next()
Napi::Value LiveStreamObject::Advance(const Napi::CallbackInfo& info) {
  Preparer& stream = preparer(info.Env());
  return Napi::Boolean::New(info.Env(), Guarded(info.Env(), [&] { return stream.Advance(); }));
}

// next(output) -> PreparedInput | undefined
Napi::Value LiveStreamObject::Next(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Preparer& stream = preparer(env);
  const auto output = View<float>(env, info[0], napi_float32_array, "output");
  if (output.size() != stream.input_size()) Misuse(env, "output", "as many elements as the input has");
  PreparedInput input;
  if (!Guarded(env, [&] { return stream.Next(output, input); })) return env.Undefined();
  return ToJsInput(env, input);
}

// state() -> LiveState
Napi::Value LiveStreamObject::State(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Preparer& stream = preparer(env);
  const LiveState state = stream.live_state();
  auto result = Napi::Object::New(env);
  result.Set("atEnd", state.at_end);
  result.Set("certainWindows", static_cast<double>(state.certain_windows));
  result.Set("wantedS", state.wanted_s);
  const std::vector<SkippedWindow> windows = stream.TakeSkippedWindows();
  auto skipped = Napi::Array::New(env, windows.size());
  for (uint32_t i = 0; i < windows.size(); ++i) {
    auto window = Napi::Object::New(env);
    window.Set("startS", windows[i].window.start_s);
    window.Set("endS", windows[i].window.end_s);
    window.Set("nonSpeechPercent", windows[i].non_speech_percent);
    skipped.Set(i, window);
  }
  result.Set("skipped", skipped);
  return result;
}

Napi::Value LiveStreamObject::Summary(const Napi::CallbackInfo& info) {
  return ToJsSummary(info.Env(), preparer(info.Env()).summary());
}

// release(): lets another thread continue the stream
void LiveStreamObject::Release(const Napi::CallbackInfo&) {
  if (!stream_) return;
  // The flag's memory may be freed before the next batch of work.
  stream_->preparer.SetStop(StopSignal());
  lock_.unlock();
  stream_.reset();
}

void CloseLiveStream(const Napi::CallbackInfo& info) { LiveStreams::OfProcess().Remove(StreamId(info)); }

}  // namespace veravox
