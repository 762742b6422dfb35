// SPDX-License-Identifier: Apache-2.0

// The stages as a C interface for training, so that training and serving compute all numbers with the same
// code. Built as libveravox_training.so by -DVERAVOX_SHARED=ON; training/features/native.py is its only
// caller.
//
// Conventions: a function that can fail takes an error buffer (may be null) and reports failure by a null
// pointer or by -1; the buffer then holds one UTF-8 sentence, cut to fit and always terminated. Handles
// belong to the caller, are released by their _destroy function (null is fine) and are used by one thread at
// a time. Different handles are independent. Bytes and samples are read in place during the call only.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "features/feature_extractor.h"
#include "features/recipe_text.h"
#include "prepare/rumble_filter.h"
#include "resample/resampler.h"
#include "vad/speech_features.h"
#include "vad/speech_scores.h"
#include "vad/voice_activity.h"

#define VERAVOX_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

void Explain(const char* sentence, char* error, size_t error_size) {
  if (error == nullptr || error_size == 0) return;
  std::strncpy(error, sentence, error_size - 1);
  error[error_size - 1] = '\0';
}

// Runs `work` and returns `failure` if it throws, so that no exception crosses into C.
template <typename Result, typename Work>
Result Guard(Result failure, char* error, size_t error_size, const Work& work) {
  try {
    return work();
  } catch (const std::exception& exception) {
    Explain(exception.what(), error, error_size);
  } catch (...) {
    Explain("Unknown failure.", error, error_size);
  }
  return failure;
}

}  // namespace

struct VeravoxFeatures {
  explicit VeravoxFeatures(const veravox::FeatureRecipe& recipe)
      : extractor(recipe), audible_only(recipe.audible_only) {}

  veravox::FeatureExtractor extractor;
  bool audible_only;
  veravox::RumbleFilter rumble_filter;
  std::vector<float> filtered;
};

// `recipe`: terminated text as in native/features/recipe_text.h.
VERAVOX_EXPORT VeravoxFeatures* veravox_features_create(const char* recipe, char* error, size_t error_size) {
  return Guard<VeravoxFeatures*>(nullptr, error, error_size,
                                 [&] { return new VeravoxFeatures(veravox::ParseRecipe(recipe)); });
}

VERAVOX_EXPORT void veravox_features_destroy(VeravoxFeatures* features) { delete features; }

VERAVOX_EXPORT size_t veravox_features_frame_count(const VeravoxFeatures* features, size_t samples) {
  return features->extractor.FrameCount(samples);
}

VERAVOX_EXPORT size_t veravox_features_output_size(const VeravoxFeatures* features, size_t samples) {
  return features->extractor.OutputSize(samples);
}

// Returns 0, or -1 when `output_size` is not veravox_features_output_size(features, samples). The filter of
// audible_only treats the samples as a whole recording.
VERAVOX_EXPORT int veravox_features_compute(VeravoxFeatures* features, const float* input, size_t samples,
                                            float* output, size_t output_size, char* error,
                                            size_t error_size) {
  return Guard(-1, error, error_size, [&] {
    std::span<const float> heard(input, samples);
    if (features->audible_only) {
      features->filtered.clear();
      features->rumble_filter.Push(heard, features->filtered);
      features->rumble_filter.Finish(features->filtered);
      heard = features->filtered;
    }
    features->extractor.Compute(heard, {output, output_size});
    return 0;
  });
}

// Voice activity. All three give ceil(samples / 160) frames of a whole stream and return 0 or -1.

// `output`: 24 numbers per frame, the input of the speech network.
VERAVOX_EXPORT int veravox_speech_features(const float* input, size_t samples, float* output, char* error,
                                           size_t error_size) {
  using Features = veravox::SpeechFeatures;
  return Guard(-1, error, error_size, [&] {
    Features features;
    Features::Block block;
    const size_t frames = (samples + Features::kHopSamples - 1) / Features::kHopSamples;
    std::vector<float> padded(Features::kOverhangSamples + frames * Features::kHopSamples +
                              Features::kBlockSamples);
    std::copy_n(input, samples, padded.begin() + Features::kOverhangSamples);
    for (size_t frame = 0; frame < frames; frame += Features::kBlockFrames) {
      const float* start = &padded[frame * Features::kHopSamples];
      features.Compute(std::span<const float, Features::kBlockSamples>(start, Features::kBlockSamples),
                       block);
      std::copy_n(block.begin(), std::min(Features::kBlockFrames, frames - frame) * Features::kBands,
                  output + frame * Features::kBands);
    }
    return 0;
  });
}

// `output`: log odds of speech.
VERAVOX_EXPORT int veravox_speech_scores(const float* input, size_t samples, float* output, char* error,
                                         size_t error_size) {
  return Guard(-1, error, error_size, [&] {
    const auto store = [&](float log_odds, const auto&) { *output++ = log_odds; };
    veravox::SpeechScores scores;
    scores.Push({input, samples}, store);
    scores.Finish(store);
    return 0;
  });
}

// `output`: 1 for speech, 0 otherwise.
VERAVOX_EXPORT int veravox_speech_decisions(const float* input, size_t samples, uint8_t* output, char* error,
                                            size_t error_size) {
  return Guard(-1, error, error_size, [&] {
    std::vector<uint8_t> speech;
    veravox::VoiceActivityDetector detector;
    detector.Push({input, samples}, speech);
    detector.Finish(speech);
    std::copy(speech.begin(), speech.end(), output);
    return 0;
  });
}

struct VeravoxResampler {
  veravox::Resampler resampler;
  std::vector<float> output;  // results of the last call
};

VERAVOX_EXPORT VeravoxResampler* veravox_resampler_create(int input_rate_hz, int output_rate_hz, char* error,
                                                          size_t error_size) {
  return Guard<VeravoxResampler*>(nullptr, error, error_size, [&] {
    return new VeravoxResampler{veravox::Resampler(input_rate_hz, output_rate_hz), {}};
  });
}

VERAVOX_EXPORT void veravox_resampler_destroy(VeravoxResampler* resampler) { delete resampler; }

// Returns how many samples can be computed so far, or -1. veravox_resampler_output gives them until the next
// call.
VERAVOX_EXPORT int64_t veravox_resampler_push(VeravoxResampler* resampler, const float* input, size_t samples,
                                              char* error, size_t error_size) {
  return Guard<int64_t>(-1, error, error_size, [&] {
    resampler->output.clear();
    resampler->resampler.Push({input, samples}, resampler->output);
    return static_cast<int64_t>(resampler->output.size());
  });
}

// The same for the rest of the stream; afterwards the next stream may begin.
VERAVOX_EXPORT int64_t veravox_resampler_finish(VeravoxResampler* resampler, char* error, size_t error_size) {
  return Guard<int64_t>(-1, error, error_size, [&] {
    resampler->output.clear();
    resampler->resampler.Finish(resampler->output);
    return static_cast<int64_t>(resampler->output.size());
  });
}

VERAVOX_EXPORT const float* veravox_resampler_output(const VeravoxResampler* resampler) {
  return resampler->output.data();
}
