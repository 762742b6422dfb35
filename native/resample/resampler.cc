// SPDX-License-Identifier: Apache-2.0
#include "resample/resampler.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>

#include "resample/halver.h"
#include "resample/kaiser_low_pass.h"
#include "resample/polyphase_filter.h"
#include "stage_error.h"

namespace veravox {
namespace {

// More than the promised 100 dB, because leakage and ripple of the stages add up; the halvers are short
// enough to afford it.
constexpr double kAttenuationDb = 110.0;
constexpr double kHalverAttenuationDb = 120.0;
// Share of the lower rate's highest frequency.
constexpr double kPassShare = 0.9;
// High rates are halved while this much of the output rate remains: a steep filter is cheaper at a low rate.
constexpr double kLeastHalvedRate = 1.125;
// Input is worked on in pieces that stay in the first-level cache, whatever the size of the caller's block.
constexpr size_t kPieceSamples = 4096;
constexpr int kLowestRateHz = 1000;
constexpr int kHighestRateHz = 768000;

void RequireRate(const char* name, int rate_hz) {
  if (rate_hz >= kLowestRateHz && rate_hz <= kHighestRateHz) return;
  throw StageError(ErrorCode::kSampleRateOutOfRange,
                   std::string(name) + " must be between " + std::to_string(kLowestRateHz) + " and " +
                       std::to_string(kHighestRateHz) + " Hz but is " + std::to_string(rate_hz) + " Hz.");
}

}  // namespace

class Resampler::Impl {
 public:
  Impl(int input_rate_hz, int output_rate_hz, SimdLevel level)
      : input_rate_hz_(input_rate_hz), output_rate_hz_(output_rate_hz) {
    RequireRate("The input's sample rate", input_rate_hz);
    RequireRate("The output's sample rate", output_rate_hz);
    if (input_rate_hz == output_rate_hz) return;
    const double highest_hz = 0.5 * std::min(input_rate_hz, output_rate_hz);
    double rate_hz = input_rate_hz;
    int64_t up = output_rate_hz;
    int64_t first_sample = 0;
    while (0.5 * rate_hz >= kLeastHalvedRate * output_rate_hz) {
      halvers_.emplace_back(highest_hz / rate_hz, kHalverAttenuationDb, first_sample, level);
      first_sample = halvers_.back().first_output();
      rate_hz *= 0.5;
      up *= 2;
    }
    halved_.resize(halvers_.size());
    const int64_t divisor = std::gcd(up, int64_t{input_rate_hz});
    const KaiserLowPass low_pass(kPassShare * highest_hz / rate_hz, highest_hz / rate_hz, kAttenuationDb);
    filter_ = PolyphaseFilter::Make({up / divisor, input_rate_hz / divisor}, low_pass, first_sample, level);
  }

  void Push(std::span<const float> input, std::vector<float>& output) {
    samples_in_ += static_cast<int64_t>(input.size());
    const size_t before = output.size();
    Convert(input, output);
    samples_out_ += static_cast<int64_t>(output.size() - before);
  }

  void Finish(std::vector<float>& output) {
    const int64_t total = (samples_in_ * output_rate_hz_ + input_rate_hz_ - 1) / input_rate_hz_;
    const size_t end = output.size() + static_cast<size_t>(total - samples_out_);
    static constexpr float kSilence[256] = {};
    while (output.size() < end) Convert(kSilence, output);
    output.resize(end);
    for (Halver& halver : halvers_) halver.Reset();
    if (filter_) filter_->Reset();
    samples_in_ = 0;
    samples_out_ = 0;
  }

  void Transfer(SavedState& state) {
    for (Halver& halver : halvers_) halver.Transfer(state);
    if (filter_) filter_->Transfer(state);
    state.Transfer(samples_in_);
    state.Transfer(samples_out_);
    state.Require(samples_in_ >= 0 && samples_in_ < int64_t{1} << 40);
    // Finish() appends the missing samples at once.
    const int64_t due = (samples_in_ * output_rate_hz_) / input_rate_hz_;
    constexpr int64_t kMostPending = 1 << 20;
    state.Require(samples_out_ >= 0 && samples_out_ <= due + 1 && due - samples_out_ < kMostPending);
  }

 private:
  void Convert(std::span<const float> input, std::vector<float>& output) {
    if (!filter_) {
      output.insert(output.end(), input.begin(), input.end());
      return;
    }
    while (!input.empty()) {
      std::span<const float> piece = input.first(std::min(kPieceSamples, input.size()));
      input = input.subspan(piece.size());
      for (size_t stage = 0; stage < halvers_.size(); ++stage) {
        halvers_[stage].Push(piece, halved_[stage]);
        piece = halved_[stage];
      }
      filter_->Push(piece, output);
    }
  }

  const int64_t input_rate_hz_;
  const int64_t output_rate_hz_;
  std::vector<Halver> halvers_;
  std::vector<std::vector<float>> halved_;   // each halver's output for the current piece
  std::unique_ptr<PolyphaseFilter> filter_;  // null: the rates are equal
  int64_t samples_in_ = 0;
  int64_t samples_out_ = 0;
};

Resampler::Resampler(int input_rate_hz, int output_rate_hz, SimdLevel level)
    : impl_(std::make_unique<Impl>(input_rate_hz, output_rate_hz, level)) {}
Resampler::~Resampler() = default;

void Resampler::Push(std::span<const float> input, std::vector<float>& output) { impl_->Push(input, output); }
void Resampler::Finish(std::vector<float>& output) { impl_->Finish(output); }
void Resampler::Transfer(SavedState& state) { impl_->Transfer(state); }

}  // namespace veravox
