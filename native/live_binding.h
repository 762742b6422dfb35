// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "binding_values.h"
#include "prepare/live_streams.h"

namespace veravox {

// JavaScript's face of a stream in LiveStreams; src/base/addon/addon.ts declares its types.
class LiveStreamObject : public Napi::ObjectWrap<LiveStreamObject> {
 public:
  static Napi::Function Define(Napi::Env env);
  explicit LiveStreamObject(const Napi::CallbackInfo& info);

 private:
  void Push(const Napi::CallbackInfo& info);
  void Finish(const Napi::CallbackInfo& info);
  void LookCloser(const Napi::CallbackInfo& info);
  Napi::Value Advance(const Napi::CallbackInfo& info);
  Napi::Value Next(const Napi::CallbackInfo& info);
  Napi::Value State(const Napi::CallbackInfo& info);
  Napi::Value Summary(const Napi::CallbackInfo& info);
  void Release(const Napi::CallbackInfo& info);
  Preparer& preparer(Napi::Env env);

  std::shared_ptr<LiveStreams::Stream> stream_;
  std::unique_lock<std::mutex> lock_;
};

// closeLiveStream(id)
void CloseLiveStream(const Napi::CallbackInfo& info);

}  // namespace veravox
