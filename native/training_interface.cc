// SPDX-License-Identifier: Apache-2.0

// The stages as a C interface for models/training, so that training and serving compute every number with the
// same code. Built as libveravox_training.so by -DVERAVOX_SHARED=ON; models/training/native.py is its only
// caller.
//
// Conventions: a function that can fail takes an error buffer (may be null) and reports failure by a null
// pointer or by -1; the buffer then holds one UTF-8 sentence, cut to fit and always terminated. Handles
// belong to the caller, are released by their _destroy function (null is fine) and are used by one thread at
// a time. Different handles are independent. Bytes and samples are read in place during the call only.

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "features/feature_extractor.h"
#include "features/recipe_text.h"
#include "resample/resampler.h"

#define VERAVOX_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

void Explain(const char* sentence, char* error, size_t error_size) {
  if (error == nullptr || error_size == 0) return;
  std::strncpy(error, sentence, error_size - 1);
  error[error_size - 1] = '\0';
}

// Runs `work` so that no exception crosses into C; `failure` is returned in its place.
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
  veravox::FeatureExtractor extractor;
};

// `recipe`: terminated text as in native/features/recipe_text.h.
VERAVOX_EXPORT VeravoxFeatures* veravox_features_create(const char* recipe, char* error, size_t error_size) {
  return Guard<VeravoxFeatures*>(nullptr, error, error_size, [&] {
    return new VeravoxFeatures{veravox::FeatureExtractor(veravox::ParseRecipe(recipe))};
  });
}

VERAVOX_EXPORT void veravox_features_destroy(VeravoxFeatures* features) { delete features; }

VERAVOX_EXPORT size_t veravox_features_frame_count(const VeravoxFeatures* features, size_t samples) {
  return features->extractor.FrameCount(samples);
}

VERAVOX_EXPORT size_t veravox_features_output_size(const VeravoxFeatures* features, size_t samples) {
  return features->extractor.OutputSize(samples);
}

// Returns 0, or -1 when `output_size` is not veravox_features_output_size(features, samples).
VERAVOX_EXPORT int veravox_features_compute(VeravoxFeatures* features, const float* input, size_t samples,
                                            float* output, size_t output_size, char* error,
                                            size_t error_size) {
  return Guard(-1, error, error_size, [&] {
    features->extractor.Compute({input, samples}, {output, output_size});
    return 0;
  });
}

struct VeravoxResampler {
  veravox::Resampler resampler;
  std::vector<float> output;  // of the last call
};

VERAVOX_EXPORT VeravoxResampler* veravox_resampler_create(int input_rate_hz, int output_rate_hz, char* error,
                                                          size_t error_size) {
  return Guard<VeravoxResampler*>(nullptr, error, error_size, [&] {
    return new VeravoxResampler{veravox::Resampler(input_rate_hz, output_rate_hz), {}};
  });
}

VERAVOX_EXPORT void veravox_resampler_destroy(VeravoxResampler* resampler) { delete resampler; }

// Returns how many samples can be computed by now, or -1. They are found at veravox_resampler_output until
// the next call.
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
