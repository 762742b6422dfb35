// SPDX-License-Identifier: Apache-2.0
//
// The only file that speaks Node-API: it turns JavaScript values into plain structs, calls a stage, and turns
// its result or StageError back. It keeps no state of its own beyond the wrapped objects.
#include <malloc.h>
#include <napi.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "binding_values.h"
#include "decode/library_versions.h"
#include "decode/ranged_source.h"
#include "features/recipe_text.h"
#include "gpu/vulkan_adapters.h"
#include "guard/crash_notes.h"
#include "guard/thread_sandbox.h"
#include "live_binding.h"
#include "outgoing/name_question.h"
#include "prepare/model_input_text.h"
#include "prepare/preparer.h"
#include "voiceprints/voiceprint_list.h"

namespace veravox {
namespace {

// Reads ranges through a JavaScript function, which blocks the thread until it has them.
class JsRangeReader final : public RangeReader {
 public:
  explicit JsRangeReader(const Napi::Function& read) : read_(Napi::Persistent(read)) {}

  void Read(uint64_t offset, std::span<uint8_t> out) override {
    const Napi::Env env = read_.Env();
    const Napi::HandleScope scope(env);
    try {
      const Napi::Value result = read_.Call({Napi::Number::New(env, static_cast<double>(offset)),
                                             Napi::Number::New(env, static_cast<double>(out.size()))});
      const auto bytes = View<uint8_t>(env, result, napi_uint8_array, "what was read");
      if (bytes.size() != out.size()) Misuse(env, "what was read", "as many bytes as were asked for");
      std::copy(bytes.begin(), bytes.end(), out.begin());
    } catch (const Napi::Error& error) {
      // Must not pass through libav, which is C.
      throw StageError(ErrorCode::kSourceFailed, error.Message());
    }
  }

 private:
  Napi::FunctionReference read_;
};

// JavaScript's face of veravox::Preparer; src/base/addon/addon.ts declares its types.
class PreparerObject : public Napi::ObjectWrap<PreparerObject> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(
        env, "Preparer",
        {InstanceMethod<&PreparerObject::Open>("open"),
         InstanceMethod<&PreparerObject::OpenSource>("openSource"),
         InstanceMethod<&PreparerObject::TakeSkipped>("takeSkipped"),
         InstanceMethod<&PreparerObject::TakeCheckpoint>("takeCheckpoint"),
         InstanceAccessor<&PreparerObject::DecodedS>("decodedS"),
         InstanceMethod<&PreparerObject::Next>("next"), InstanceMethod<&PreparerObject::Summary>("summary"),
         InstanceMethod<&PreparerObject::Close>("close"),
         InstanceAccessor<&PreparerObject::InputSize>("inputSize")});
  }

  explicit PreparerObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<PreparerObject>(info) {
    const std::string input = Text(info, 0, "input");
    Guarded(info.Env(), [&] { preparer_ = std::make_unique<Preparer>(ParseModelInput(input)); });
  }

 private:
  // open(bytes, options, stopFlag)
  void Open(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const auto bytes = View<uint8_t>(env, info[0], napi_uint8_array, "bytes");
    if (!info[1].IsObject()) Misuse(env, "options", "an object");
    const auto given = info[1].As<Napi::Object>();
    const auto flag = View<int32_t>(env, info[2], napi_int32_array, "stopFlag");
    if (flag.empty()) Misuse(env, "stopFlag", "an Int32Array with one element");

    const PrepareOptions options = ToOptions(given);
    const StopSignal stop = ToStopSignal(given, flag);
    // The stage reads both in place until Close: they must not be collected before.
    held_ = Napi::Persistent(Napi::Array::New(env, 2).As<Napi::Object>());
    held_.Set(0u, info[0]);
    held_.Set(1u, info[2]);
    Guarded(env, [&] { preparer_->Open(bytes, options, stop); });
  }

  // openSource({bytes, blockBytes, read(offset, length)}, options, stopFlag, checkpoint)
  void OpenSource(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (!info[0].IsObject()) Misuse(env, "source", "an object");
    if (!info[1].IsObject()) Misuse(env, "options", "an object");
    const auto source = info[0].As<Napi::Object>();
    const auto given = info[1].As<Napi::Object>();
    const auto flag = View<int32_t>(env, info[2], napi_int32_array, "stopFlag");
    if (flag.empty()) Misuse(env, "stopFlag", "an Int32Array with one element");
    if (!source.Get("read").IsFunction()) Misuse(env, "read", "a function");
    const double bytes = Number(source, "bytes");
    const double block_bytes = Number(source, "blockBytes");
    constexpr double kLargestSize = 9007199254740991.0;
    if (bytes < 0.0 || bytes > kLargestSize) Misuse(env, "bytes", "a size");
    if (block_bytes < 1.0 || block_bytes > 64.0 * 1024 * 1024) Misuse(env, "blockBytes", "at most 64 MiB");
    PrepareOptions options = ToOptions(given);
    options.checkpoint_interval_s = Number(given, "checkpointIntervalS");
    const auto checkpoint = info[3].IsUndefined()
                                ? std::span<uint8_t>()
                                : View<uint8_t>(env, info[3], napi_uint8_array, "checkpoint");

    // Releases the file that was open before.
    preparer_->Close();
    stop_ = ToStopSignal(given, flag);
    held_ = Napi::Persistent(Napi::Array::New(env, 1).As<Napi::Object>());
    held_.Set(0u, info[2]);
    reader_ = std::make_unique<JsRangeReader>(source.Get("read").As<Napi::Function>());
    RangedSource::Limits limits;
    limits.block_bytes = static_cast<size_t>(block_bytes);
    source_ = std::make_unique<RangedSource>(*reader_, static_cast<uint64_t>(bytes), stop_, limits);
    Guarded(env, [&] { preparer_->Open(*source_, options, stop_, checkpoint); });
  }

  // takeSkipped() -> SkippedStretch[]
  Napi::Value TakeSkipped(const Napi::CallbackInfo& info) {
    return ToJsSkipped(info.Env(), preparer_->TakeSkipped());
  }

  // takeCheckpoint() -> Uint8Array | undefined
  Napi::Value TakeCheckpoint(const Napi::CallbackInfo& info) {
    const std::vector<uint8_t> checkpoint = Guarded(info.Env(), [&] { return preparer_->TakeCheckpoint(); });
    if (checkpoint.empty()) return info.Env().Undefined();
    auto result = Napi::Uint8Array::New(info.Env(), checkpoint.size());
    std::copy(checkpoint.begin(), checkpoint.end(), result.Data());
    return result;
  }

  Napi::Value DecodedS(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), preparer_->decoded_s());
  }

  // next(output) -> PreparedInput | undefined
  Napi::Value Next(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const auto output = View<float>(env, info[0], napi_float32_array, "output");
    if (output.size() != preparer_->input_size()) Misuse(env, "output", "inputSize elements");
    PreparedInput input;
    if (!Guarded(env, [&] { return preparer_->Next(output, input); })) return env.Undefined();
    return ToJsInput(env, input);
  }

  Napi::Value Summary(const Napi::CallbackInfo& info) {
    return ToJsSummary(info.Env(), preparer_->summary());
  }

  void Close(const Napi::CallbackInfo&) {
    preparer_->Close();
    held_.Reset();
    source_.reset();
    reader_.reset();
  }

  Napi::Value InputSize(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), static_cast<double>(preparer_->input_size()));
  }

  StopSignal stop_;
  std::unique_ptr<JsRangeReader> reader_;
  std::unique_ptr<RangedSource> source_;
  std::unique_ptr<Preparer> preparer_;  // reads from the source until it is closed
  Napi::ObjectReference held_;
};

Napi::Float32Array ToJsArray(Napi::Env env, const std::vector<float>& values) {
  auto result = Napi::Float32Array::New(env, values.size());
  std::copy(values.begin(), values.end(), result.Data());
  return result;
}

// The single stages below serve benchmarks and comparisons with other software; requests go through Preparer.

// decode(bytes) -> {samples, sampleRateHz, damagedPackets, unheard, statedLength}: the whole first audio
// stream, mixed down.
Napi::Value Decode(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto bytes = View<uint8_t>(env, info[0], napi_uint8_array, "bytes");
  return Guarded(env, [&]() -> Napi::Value {
    const StopSignal never;
    Decoder decoder(bytes, DecodeOptions{}, never);
    std::vector<float> samples;
    MonoBlock block;
    int sample_rate_hz = 0;
    while (decoder.Next(block)) {
      samples.insert(samples.end(), block.samples.begin(), block.samples.end());
      sample_rate_hz = block.sample_rate_hz;
    }
    auto result = Napi::Object::New(env);
    result.Set("samples", ToJsArray(env, samples));
    result.Set("sampleRateHz", sample_rate_hz);
    result.Set("damagedPackets", static_cast<double>(decoder.damaged_packets()));
    result.Set("unheard", ToJsUnheard(env, decoder.unheard()));
    if (const auto length = decoder.stated_length()) result.Set("statedLength", ToJsLength(env, *length));
    return result;
  });
}

// new Resampler(inputRateHz, outputRateHz).convert(samples) -> Float32Array
class ResamplerObject : public Napi::ObjectWrap<ResamplerObject> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "Resampler", {InstanceMethod<&ResamplerObject::Convert>("convert")});
  }

  explicit ResamplerObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<ResamplerObject>(info) {
    if (!info[0].IsNumber() || !info[1].IsNumber()) Misuse(info.Env(), "the rates", "two numbers");
    Guarded(info.Env(), [&] {
      resampler_ = std::make_unique<Resampler>(info[0].As<Napi::Number>(), info[1].As<Napi::Number>());
    });
  }

 private:
  Napi::Value Convert(const Napi::CallbackInfo& info) {
    const auto samples = View<float>(info.Env(), info[0], napi_float32_array, "samples");
    output_.clear();
    Guarded(info.Env(), [&] {
      resampler_->Push(samples, output_);
      resampler_->Finish(output_);
    });
    return ToJsArray(info.Env(), output_);
  }

  std::unique_ptr<Resampler> resampler_;
  std::vector<float> output_;
};

// new VoiceActivityDetector().detect(samples) -> Uint8Array with a decision per 10 ms of 16 kHz audio
class VoiceActivityObject : public Napi::ObjectWrap<VoiceActivityObject> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "VoiceActivityDetector",
                       {InstanceMethod<&VoiceActivityObject::Detect>("detect")});
  }

  explicit VoiceActivityObject(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<VoiceActivityObject>(info) {}

 private:
  Napi::Value Detect(const Napi::CallbackInfo& info) {
    const auto samples = View<float>(info.Env(), info[0], napi_float32_array, "samples");
    speech_.clear();
    Guarded(info.Env(), [&] {
      detector_.Push(samples, speech_);
      detector_.Finish(speech_);
    });
    auto result = Napi::Uint8Array::New(info.Env(), speech_.size());
    std::copy(speech_.begin(), speech_.end(), result.Data());
    return result;
  }

  VoiceActivityDetector detector_;
  std::vector<uint8_t> speech_;
};

// new FeatureExtractor(recipe).compute(samples) -> Float32Array
class FeatureExtractorObject : public Napi::ObjectWrap<FeatureExtractorObject> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "FeatureExtractor",
                       {InstanceMethod<&FeatureExtractorObject::Compute>("compute")});
  }

  explicit FeatureExtractorObject(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<FeatureExtractorObject>(info) {
    const std::string recipe = Text(info, 0, "recipe");
    Guarded(info.Env(), [&] { extractor_ = std::make_unique<FeatureExtractor>(ParseRecipe(recipe)); });
  }

 private:
  Napi::Value Compute(const Napi::CallbackInfo& info) {
    const auto samples = View<float>(info.Env(), info[0], napi_float32_array, "samples");
    auto output = Napi::Float32Array::New(info.Env(), extractor_->OutputSize(samples.size()));
    Guarded(info.Env(), [&] { extractor_->Compute(samples, {output.Data(), output.ElementLength()}); });
    return output;
  }

  std::unique_ptr<FeatureExtractor> extractor_;
};

// releasePages(bytes): gives the whole pages inside the array back to the system; they read as zero
// afterwards.
void ReleasePages(const Napi::CallbackInfo& info) {
  const auto bytes = View<uint8_t>(info.Env(), info[0], napi_uint8_array, "bytes");
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = (reinterpret_cast<uintptr_t>(bytes.data()) + bytes.size()) / page * page;
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

// freeBuffer(bytes): frees the memory of the array's buffer, which the garbage collector of a thread without
// work would keep. The array is empty afterwards.
void FreeBuffer(const Napi::CallbackInfo& info) {
  View<uint8_t>(info.Env(), info[0], napi_uint8_array, "bytes");
  info[0].As<Napi::Uint8Array>().ArrayBuffer().Detach();
}

// openCrashNotes(file, slots)
void OpenNotes(const Napi::CallbackInfo& info) {
  const std::string file = Text(info, 0, "file");
  if (!info[1].IsNumber()) Misuse(info.Env(), "slots", "a number");
  const uint32_t slots = info[1].As<Napi::Number>();
  Guarded(info.Env(), [&] { OpenCrashNotes(file, slots); });
}

// noteInput(digest)
void Note(const Napi::CallbackInfo& info) {
  const auto bytes = View<uint8_t>(info.Env(), info[0], napi_uint8_array, "digest");
  InputDigest digest;
  if (bytes.size() != digest.size()) Misuse(info.Env(), "digest", "32 bytes");
  std::copy(bytes.begin(), bytes.end(), digest.begin());
  NoteInput(digest);
}

void Forget(const Napi::CallbackInfo&) { ForgetInput(); }

// sandboxThisThread() -> undefined, or why the system refuses
Napi::Value Sandbox(const Napi::CallbackInfo& info) {
  const int failure = SandboxThisThread();
  if (failure == 0) return info.Env().Undefined();
  return Napi::String::New(info.Env(), std::generic_category().message(failure));
}

// tryLock(descriptor, kind) -> whether flock(2) gave the lock, at once: "exclusive" or "shared"; "none" gives
// it back. The lock belongs to the open file, so it ends with its last descriptor, however the processes that
// held one end.
Napi::Value TryLock(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsNumber()) Misuse(env, "descriptor", "a number");
  const std::string kind = info[1].IsString() ? info[1].As<Napi::String>().Utf8Value() : "";
  const int operation = kind == "exclusive" ? LOCK_EX : kind == "shared" ? LOCK_SH : LOCK_UN;
  if (operation == LOCK_UN && kind != "none") Misuse(env, "kind", "exclusive, shared or none");
  const int descriptor = info[0].As<Napi::Number>().Int32Value();
  int result = 0;
  do {
    result = flock(descriptor, operation | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EWOULDBLOCK) {
    throw Napi::Error::New(env, std::string("The file cannot be locked: ") + std::strerror(errno));
  }
  return Napi::Boolean::New(env, result == 0);
}

VoiceprintListLimits ToListLimits(const Napi::Object& options) {
  return {.most_entries = static_cast<int64_t>(std::clamp(Number(options, "mostEntries"), 0.0, 1e9))};
}

// Works in one of libuv's threads on a list of voiceprints and on numbers, `info[0]` and `info[1]`, which are
// read in place until the end. The promise is fulfilled with {problem} if the list is wrong.
class VoiceprintListWorker : public Napi::AsyncWorker {
 public:
  explicit VoiceprintListWorker(const Napi::CallbackInfo& info)
      : Napi::AsyncWorker(info.Env()),
        list_(View<uint8_t>(info.Env(), info[0], napi_uint8_array, "list")),
        numbers_(View<double>(info.Env(), info[1], napi_float64_array, "numbers")),
        limits_(ToListLimits(info[2].As<Napi::Object>())),
        deferred_(Napi::Promise::Deferred::New(info.Env())) {
    auto held = Napi::Array::New(info.Env(), 2);
    held.Set(0u, info[0]);
    held.Set(1u, info[1]);
    held_ = Napi::Persistent(held.As<Napi::Object>());
  }

  Napi::Promise promise() const { return deferred_.Promise(); }

 protected:
  virtual void Work() = 0;
  virtual void Fill(Napi::Object result) = 0;

  const std::span<const uint8_t> list_;
  const std::span<const double> numbers_;
  const VoiceprintListLimits limits_;

 private:
  void Execute() override {
    try {
      Work();
    } catch (const VoiceprintListError& error) {
      problem_ = error.what();
    }
  }
  void OnOK() override {
    auto result = Napi::Object::New(Env());
    if (problem_) {
      result.Set("problem", *problem_);
    } else {
      Fill(result);
    }
    deferred_.Resolve(result);
  }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

  Napi::Promise::Deferred deferred_;
  Napi::ObjectReference held_;
  std::optional<std::string> problem_;
};

class FindForeignWorker final : public VoiceprintListWorker {
 public:
  explicit FindForeignWorker(const Napi::CallbackInfo& info)
      : VoiceprintListWorker(info), tolerance_(Number(info[2].As<Napi::Object>(), "tolerance")) {}

 private:
  void Work() override { foreign_ = FindForeignVoiceprint(list_, limits_, numbers_, tolerance_); }
  void Fill(Napi::Object result) override {
    if (foreign_ >= 0) result.Set("foreign", static_cast<double>(foreign_));
  }

  const double tolerance_;
  int64_t foreign_ = -1;
};

class RankWorker final : public VoiceprintListWorker {
 public:
  explicit RankWorker(const Napi::CallbackInfo& info)
      : VoiceprintListWorker(info),
        best_(static_cast<size_t>(std::clamp(Number(info[2].As<Napi::Object>(), "best"), 0.0, 1e6))) {
    if (numbers_.size() != kVoiceprintSize) Misuse(info.Env(), "voiceprint", "256 elements");
  }

 private:
  void Work() override { ranking_ = RankVoiceprints(list_, limits_, numbers_, best_); }
  void Fill(Napi::Object result) override {
    const Napi::Env env = result.Env();
    auto cosines = Napi::Float64Array::New(env, ranking_.cosines.size());
    std::copy(ranking_.cosines.begin(), ranking_.cosines.end(), cosines.Data());
    auto best = Napi::Array::New(env, ranking_.best.size());
    for (uint32_t i = 0; i < ranking_.best.size(); ++i) {
      auto ranked = Napi::Object::New(env);
      ranked.Set("index", static_cast<double>(ranking_.best[i].index));
      ranked.Set("cosine", ranking_.best[i].cosine);
      ranked.Set("idJson", ranking_.best[i].id);
      best.Set(i, ranked);
    }
    result.Set("cosines", cosines);
    result.Set("best", best);
  }

  const size_t best_;
  VoiceprintRanking ranking_;
};

template <typename Worker>
Napi::Promise Started(std::unique_ptr<Worker> worker) {
  const Napi::Promise promise = worker->promise();
  worker.release()->Queue();  // it deletes itself at the end
  return promise;
}

// findForeignVoiceprint(list, excluded, {tolerance, mostEntries}) -> Promise<{foreign?} | {problem}>
// rankVoiceprints(list, voiceprint, {best, mostEntries}) -> Promise<{cosines, best} | {problem}>
template <typename Worker>
Napi::Value OnVoiceprints(const Napi::CallbackInfo& info) {
  if (!info[2].IsObject()) Misuse(info.Env(), "options", "an object");
  return Started(std::make_unique<Worker>(info));
}

// Larger blocks are mapped and unmapped one by one. By default the C library maps only blocks larger than any
// freed before, up to 32 MiB. The others stay in the threads' heaps, whose free ends malloc_trim does not
// return: each reload added megabytes.
constexpr int kMappedFromBytes = 1 << 20;

void KeepLargeBlocksOutOfHeaps() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, kMappedFromBytes);
  mallopt(M_TRIM_THRESHOLD, 2 * kMappedFromBytes);
#endif
}

// Returns the free memory of all C library heaps to the system, in one of libuv's threads. After a flood that
// is gigabytes and takes a tenth of a second.
class TrimWorker final : public Napi::AsyncWorker {
 public:
  explicit TrimWorker(Napi::Env env) : Napi::AsyncWorker(env), deferred_(Napi::Promise::Deferred::New(env)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 private:
  void Execute() override {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
  }
  void OnOK() override { deferred_.Resolve(Env().Undefined()); }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

  Napi::Promise::Deferred deferred_;
};

// trimHeap() -> Promise<undefined>
Napi::Value TrimHeap(const Napi::CallbackInfo& info) {
  return Started(std::make_unique<TrimWorker>(info.Env()));
}

Napi::Value Versions(const Napi::CallbackInfo& info) {
  auto result = Napi::Object::New(info.Env());
  for (const auto& [library, version] : LibraryVersions()) result.Set(library, version);
  return result;
}

// askForAddresses(host) -> the descriptor of a pipe
Napi::Value AskSystem(const Napi::CallbackInfo& info) {
  const std::string host = Text(info, 0, "host");
  return Guarded(info.Env(), [&] { return Napi::Number::New(info.Env(), AskForAddresses(host)); });
}

// vulkanAdapters() -> [{name, isSoftware}]
Napi::Value ListVulkanAdapters(const Napi::CallbackInfo& info) {
  auto list = Napi::Array::New(info.Env());
  for (const auto& [name, is_software] : VulkanAdapters()) {
    auto adapter = Napi::Object::New(info.Env());
    adapter.Set("name", name);
    adapter.Set("isSoftware", is_software);
    list.Set(list.Length(), adapter);
  }
  return list;
}

}  // namespace

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  KeepLargeBlocksOutOfHeaps();
  exports.Set("Preparer", PreparerObject::Define(env));
  exports.Set("LiveStream", LiveStreamObject::Define(env));
  exports.Set("closeLiveStream", Napi::Function::New(env, CloseLiveStream, "closeLiveStream"));
  exports.Set("Resampler", ResamplerObject::Define(env));
  exports.Set("VoiceActivityDetector", VoiceActivityObject::Define(env));
  exports.Set("FeatureExtractor", FeatureExtractorObject::Define(env));
  exports.Set("decode", Napi::Function::New(env, Decode, "decode"));
  exports.Set("releasePages", Napi::Function::New(env, ReleasePages, "releasePages"));
  exports.Set("freeBuffer", Napi::Function::New(env, FreeBuffer, "freeBuffer"));
  exports.Set("openCrashNotes", Napi::Function::New(env, OpenNotes, "openCrashNotes"));
  exports.Set("noteInput", Napi::Function::New(env, Note, "noteInput"));
  exports.Set("forgetInput", Napi::Function::New(env, Forget, "forgetInput"));
  exports.Set("sandboxThisThread", Napi::Function::New(env, Sandbox, "sandboxThisThread"));
  exports.Set("tryLock", Napi::Function::New(env, TryLock, "tryLock"));
  exports.Set("findForeignVoiceprint",
              Napi::Function::New(env, OnVoiceprints<FindForeignWorker>, "findForeignVoiceprint"));
  exports.Set("rankVoiceprints", Napi::Function::New(env, OnVoiceprints<RankWorker>, "rankVoiceprints"));
  exports.Set("trimHeap", Napi::Function::New(env, TrimHeap, "trimHeap"));
  exports.Set("askForAddresses", Napi::Function::New(env, AskSystem, "askForAddresses"));
  exports.Set("vulkanAdapters", Napi::Function::New(env, ListVulkanAdapters, "vulkanAdapters"));
  exports.Set("libraryVersions", Napi::Function::New(env, Versions, "libraryVersions"));
  return exports;
}

}  // namespace veravox

using veravox::Init;
NODE_API_MODULE(veravox, Init)
