// SPDX-License-Identifier: Apache-2.0
#include "prepare/preparer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "decode/codec_allow_list.h"

namespace veravox {
namespace {

constexpr auto kFrame = static_cast<int64_t>(VoiceActivityDetector::kFrameSamples);
// Consumed audio is dropped in steps of this size, so that moving the rest costs next to nothing.
constexpr int64_t kDropStepSamples = Preparer::kWindowSamples;
// Increment it when the content of checkpoints changes.
constexpr uint32_t kCheckpointVersion = 6;
// Live audio between two checks of an undecided window.
constexpr int64_t kSettlingStepSamples = Preparer::kSampleRateHz / 20;
constexpr float kFullScale = 0.999f;
// Float files can hold anything; larger samples carry no meaning, and their squares would overflow.
constexpr float kLargestSample = 1e4f;
// Each takes a millisecond, and joined files may change the rate with every few samples.
constexpr int64_t kMostResamplers = 500;

double Seconds(int64_t samples) { return static_cast<double>(samples) / Preparer::kSampleRateHz; }

}  // namespace

// Adds the time until the end of the scope to a total.
struct Preparer::Stopwatch {
  explicit Stopwatch(double& total_ms) : total(total_ms) {}
  ~Stopwatch() {
    total += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  double& total;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

Preparer::Preparer(const ModelInputSpec& spec) : inputs_(spec), audible_only_(spec.recipe.audible_only) {
  if (spec.recipe.sample_rate_hz != kSampleRateHz) {
    throw StageError(ErrorCode::kInternal, "Expected a sample_rate_hz of 16000.");
  }
}

void Preparer::Open(ByteSource& source, const PrepareOptions& options, const StopSignal& stop,
                    std::span<const uint8_t> checkpoint) {
  Close();
  OpenDecoder(source, options, stop, checkpoint);
}

void Preparer::Open(std::span<const uint8_t> bytes, const PrepareOptions& options, const StopSignal& stop) {
  Close();
  memory_.emplace(bytes);
  OpenDecoder(*memory_, options, stop, {});
}

void Preparer::OpenDecoder(ByteSource& source, const PrepareOptions& options, const StopSignal& stop,
                           std::span<const uint8_t> checkpoint) {
  options_ = options;
  stop_ = stop;
  summary_ = {};
  std::vector<SampleRange> given;
  for (const AudioWindow& window : options_.windows)
    given.push_back({Sample(window.start_s), Sample(window.end_s)});
  planner_.emplace(kWindowSamples, kMaxUnheardSamples, std::move(given));
  const Stopwatch watch(summary_.decode_ms);
  decoder_ = std::make_unique<Decoder>(source, options_.decode, stop_);
  codec_ = LossyCodec(decoder_->codec_name());
  if (!checkpoint.empty()) Restore(checkpoint);
}

void Preparer::OpenLive(const LiveFormat& format, const PrepareOptions& options) {
  Close();
  options_ = options;
  summary_ = {};
  planner_.emplace(kWindowSamples, kMaxUnheardSamples);
  LiveInput input = MakeLiveInput(format, options_.decode, stop_);
  live_ = input.pieces;
  decoder_ = std::make_unique<Decoder>(std::move(input.audio), options_.decode.limits, stop_);
  codec_ = LossyCodec(decoder_->codec_name());
}

void Preparer::Push(std::span<const uint8_t> piece) {
  if (live_ == nullptr) throw StageError(ErrorCode::kInternal, "Expected open live audio.");
  live_->Push(piece);
}

void Preparer::FinishPushing() {
  if (live_ == nullptr) throw StageError(ErrorCode::kInternal, "Expected open live audio.");
  live_->Finish();
}

LiveState Preparer::live_state() const {
  LiveState state;
  state.at_end = at_end_;
  state.certain_windows = window_count_ - (early_ ? 1 : 0);
  if (at_end_ || !planner_) return state;
  const int64_t end = planner_->Expected().end;
  // First the window's end; then the point at which no end of the audio can move it; then small steps until
  // its share of speech is decided.
  int64_t wanted = end;
  if (available() >= end) wanted = early_ ? end + kMaxUnheardSamples + 1 : available() + kSettlingStepSamples;
  state.wanted_s = Seconds(std::max<int64_t>(wanted - available(), 1));
  return state;
}

// State that depends on the audio so far, between two blocks.
void Preparer::TransferStream(SavedState& state) {
  uint32_t version = kCheckpointVersion;
  state.Transfer(version);
  state.Require(version == kCheckpointVersion);
  decoder_->Transfer(state);
  state.Transfer(resampler_rate_hz_);
  if (state.is_read()) resampler_ = &resamplers_.Get(resampler_rate_hz_, kSampleRateHz);
  if (resampler_ != nullptr) resampler_->Transfer(state);
  if (audible_only_) {
    float origin = origin_.value_or(0.0f);
    state.Transfer(origin);
    origin_ = origin;
    rumble_filter_.Transfer(state);
  }
  voice_activity_.Transfer(state);
  int64_t samples = available();
  int64_t decided = speech_begin_ + static_cast<int64_t>(speech_.size());
  int64_t with_speech = speech_frames_ + std::accumulate(speech_.begin(), speech_.end(), int64_t{0});
  for (int64_t* count :
       {&samples, &decided, &with_speech, &decoded_samples_, &clipped_samples_, &summary_.damaged_packets}) {
    state.Transfer(*count);
    state.RequireCount(*count);
  }
  state.Transfer(summary_.damaged_from_s);
  state.Transfer(summary_.damaged_to_s);
  if (state.is_read()) {
    state.Require(summary_.damaged_from_s >= 0.0 && summary_.damaged_to_s >= summary_.damaged_from_s);
  }
  state.Transfer(summary_.has_inverted_channels);
  coded_rate_.Transfer(state, samples);
  if (!state.is_read()) return;
  pcm_begin_ = captured_at_ = samples;
  speech_begin_ = decided;
  speech_frames_ = with_speech;
}

// The start of the next window.
void Preparer::TransferWindows(SavedState& state) {
  planner_->Transfer(state);
  state.Transfer(window_count_);
  state.RequireCount(window_count_);
  state.Require(speech_begin_ * kFrame <= pcm_begin_ && pcm_begin_ <= planner_->earliest_begin());
}

void Preparer::CaptureStream() {
  SavedState state;
  TransferStream(state);
  captured_ = state.bytes();
  captured_at_ = available();
}

std::vector<uint8_t> Preparer::TakeCheckpoint() {
  // Waits until everything that later windows need follows the captured state.
  if (captured_.empty() || at_end_ || planner_->earliest_begin() < captured_at_) return {};
  SavedState windows;
  TransferWindows(windows);
  std::vector<uint8_t> checkpoint = std::exchange(captured_, {});
  checkpoint.insert(checkpoint.end(), windows.bytes().begin(), windows.bytes().end());
  return checkpoint;
}

void Preparer::Restore(std::span<const uint8_t> checkpoint) {
  SavedState state(checkpoint);
  TransferStream(state);
  TransferWindows(state);
  state.RequireEnd();
}

double Preparer::At(int64_t sample) const { return options_.decode.region.start_s + Seconds(sample); }

int64_t Preparer::Sample(double at_s) const {
  return std::llround((at_s - options_.decode.region.start_s) * kSampleRateHz);
}

void Preparer::Close() {
  live_ = nullptr;
  decoder_.reset();
  memory_.reset();
  planner_.reset();
  captured_.clear();
  captured_at_ = 0;
  if (!at_end_) {
    // Both keep their tables for the next file, but no audio of this one.
    FinishResampling();
    voice_activity_.Finish(speech_);
  }
  resampler_ = nullptr;
  resampler_rate_hz_ = 0;
  resamplers_before_ = resamplers_.made();
  codec_ = {};
  coded_rate_.Clear();
  at_end_ = false;
  pcm_.clear();
  pcm_begin_ = 0;
  speech_.clear();
  speech_begin_ = speech_frames_ = 0;
  decoded_samples_ = clipped_samples_ = 0;
  skipping_ = false;
  early_.reset();
  skipped_live_.clear();
  closer_.clear();
  closer_count_ = window_count_ = 0;
  next_input_ = inputs_in_window_ = 0;
  window_bits_per_s_ = 0.0;
}

bool Preparer::Advance() {
  if (!decoder_) throw StageError(ErrorCode::kInternal, "Expected an open file.");
  if (next_input_ < inputs_in_window_) return true;
  is_closer_ = FindCloserWindow(window_);
  if (!is_closer_ && !FindWindow(window_)) {
    is_closer_ = FindCloserWindow(window_);
    if (!is_closer_) return false;
  }
  inputs_in_window_ = inputs_.InputCount(window_.size());
  window_bits_per_s_ = codec_.empty() ? 0.0 : coded_rate_.BusiestSecond(window_);
  next_input_ = 0;
  ++(is_closer_ ? closer_count_ : window_count_);
  return true;
}

bool Preparer::Next(std::span<float> output, PreparedInput& input) {
  if (!Advance()) return false;
  const Stopwatch watch(summary_.features_ms);
  const auto samples = std::span<const float>(pcm_).subspan(static_cast<size_t>(window_.begin - pcm_begin_),
                                                            static_cast<size_t>(window_.size()));
  inputs_.Make(samples, next_input_, output);
  input = {.window_index = (is_closer_ ? closer_count_ : window_count_) - 1,
           .input_index = next_input_,
           .inputs_in_window = inputs_in_window_,
           .start_s = At(window_.begin),
           .end_s = At(window_.end),
           .is_closer = is_closer_,
           .file_progress = decoder_->progress(),
           .codec = codec_,
           .coded_bits_per_s = window_bits_per_s_};
  ++next_input_;
  return true;
}

// Decodes until a window with enough speech is complete. False at the end, and if live audio has not arrived
// yet.
bool Preparer::FindWindow(SampleRange& window) {
  while (true) {
    // A certain window does not change once its speech is decided.
    const bool is_decided = at_end_ || early_ || decided() >= planner_->Expected().end;
    if (planner_->Next(is_decided ? available() : std::min(available(), decided()), at_end_, window)) {
      if (early_) {
        const bool is_as_expected = early_->begin == window.begin && early_->end == window.end;
        early_.reset();
        if (is_as_expected) {
          skipping_ = false;
          continue;
        }
        // The audio has ended: its last window takes the place of the early one.
        --window_count_;
      }
      RequireHeld(window);
      const double non_speech_percent = NonSpeechPercent(window);
      if (non_speech_percent <= options_.silence_threshold_percent) {
        skipping_ = false;
        return true;
      }
      SkipWindow(window, non_speech_percent);
    } else if (at_end_ || planner_->is_over()) {
      return false;
    } else if (FindEarlyWindow(window)) {
      return true;
    } else {
      DropConsumed();
      const bool wants_checkpoint =
          options_.checkpoint_interval_s > 0.0 && captured_.empty() && resampler_ != nullptr;
      if (wants_checkpoint && Seconds(available() - captured_at_) >= options_.checkpoint_interval_s)
        CaptureStream();
      if (!DecodeBlock()) return false;
    }
  }
}

// Live audio: the next window as soon as it is whole, if it has enough speech whatever the pending decisions,
// so that its score is ready when it is certain.
bool Preparer::FindEarlyWindow(SampleRange& window) {
  const SampleRange expected = planner_->Expected();
  if (live_ == nullptr || early_ || available() < expected.end) return false;
  const auto begin = speech_.begin() + (expected.begin / kFrame - speech_begin_);
  const auto with_speech =
      std::accumulate(begin, std::min(begin + kWindowSamples / kFrame, speech_.end()), int64_t{0});
  const double share = static_cast<double>(with_speech) / static_cast<double>(kWindowSamples / kFrame);
  if (100.0 * (1.0 - share) > options_.silence_threshold_percent) return false;
  early_ = window = expected;
  return true;
}

void Preparer::LookCloser(std::span<const AudioWindow> windows) {
  for (const AudioWindow& window : windows) closer_.push_back({Sample(window.start_s), Sample(window.end_s)});
}

// The next window of LookCloser that is there and has enough speech.
bool Preparer::FindCloserWindow(SampleRange& window) {
  while (!closer_.empty() && (at_end_ || std::min(available(), decided()) >= closer_.front().end)) {
    window = closer_.front();
    closer_.pop_front();
    const bool is_held = window.begin >= pcm_begin_ && window.end <= available();
    if (is_held && NonSpeechPercent(window) <= options_.silence_threshold_percent) return true;
  }
  return false;
}

// Decodes the next block, or the end. False if live audio has not arrived yet.
bool Preparer::DecodeBlock() {
  stop_.ThrowIfStopped();
  MonoBlock block;
  bool decoded = false;
  {
    const Stopwatch watch(summary_.decode_ms);
    decoded = decoder_->Next(block);
  }
  if (!decoded && decoder_->is_waiting()) return false;
  NoteDamage();
  const Stopwatch watch(summary_.features_ms);
  if (decoded) {
    AppendBlock(block);
  } else {
    FinishAudio();
  }
  return true;
}

// Call it before the block after the damage is appended.
void Preparer::NoteDamage() {
  if (decoder_->damaged_packets() == summary_.damaged_packets) return;
  const double at_s = At(available());
  if (summary_.damaged_packets == 0) summary_.damaged_from_s = at_s;
  summary_.damaged_to_s = at_s;
  summary_.damaged_packets = decoder_->damaged_packets();
  if (summary_.damaged_at_s.empty() || at_s >= summary_.damaged_at_s.back() + 1.0) {
    summary_.damaged_at_s.push_back(at_s);
  }
}

void Preparer::AppendBlock(const MonoBlock& block) {
  std::span<const float> samples = block.samples;
  int64_t clipped = 0;
  int64_t unusable = 0;
  for (const float sample : samples) {
    const float magnitude = std::fabs(sample);
    clipped += magnitude >= kFullScale;
    unusable += !(magnitude <= kLargestSample);  // also true for NaN
  }
  clipped_samples_ += clipped;
  decoded_samples_ += static_cast<int64_t>(samples.size());
  summary_.channels = std::max(summary_.channels, decoder_->channels());
  summary_.has_inverted_channels |= decoder_->has_inverted_channels();
  codec_ = LossyCodec(decoder_->codec_name());
  const double duration_s = static_cast<double>(samples.size()) / block.sample_rate_hz;
  coded_rate_.Add(duration_s * kSampleRateHz, block.coded_bits);
  if (unusable > 0) {
    finite_.resize(samples.size());
    std::transform(samples.begin(), samples.end(), finite_.begin(), [](float sample) {
      return std::isfinite(sample) ? std::clamp(sample, -kLargestSample, kLargestSample) : 0.0f;
    });
    samples = finite_;
  }

  const size_t old_size = pcm_.size();
  Resample(samples, block.sample_rate_hz);
  voice_activity_.Push(std::span<const float>(pcm_).subspan(old_size), speech_);
}

void Preparer::Resample(std::span<const float> samples, int rate_hz) {
  if (audible_only_ && !samples.empty()) {
    if (!origin_) origin_ = samples.front();
    finite_.resize(samples.size());
    std::ranges::transform(samples, finite_.begin(), [&](float sample) { return sample - *origin_; });
    samples = finite_;
  }
  std::vector<float>& resampled = audible_only_ ? unfiltered_ : pcm_;
  if (rate_hz != resampler_rate_hz_) {
    // Some files change their rate; the rest of the old resampler's audio comes first.
    if (resampler_ != nullptr) resampler_->Finish(resampled);
    resampler_ = &resamplers_.Get(rate_hz, kSampleRateHz);
    resampler_rate_hz_ = rate_hz;
    if (resamplers_.made() - resamplers_before_ > kMostResamplers) {
      throw StageError(ErrorCode::kUndecodable, "The sample rate changes too often.");
    }
  }
  resampler_->Push(samples, resampled);
  if (audible_only_) {
    rumble_filter_.Push(unfiltered_, pcm_);
    unfiltered_.clear();
  }
}

void Preparer::FinishResampling() {
  if (resampler_ != nullptr) resampler_->Finish(audible_only_ ? unfiltered_ : pcm_);
  if (audible_only_) {
    rumble_filter_.Push(unfiltered_, pcm_);
    rumble_filter_.Finish(pcm_);
    unfiltered_.clear();
    origin_.reset();
  }
}

void Preparer::FinishAudio() {
  const size_t old_size = pcm_.size();
  FinishResampling();
  voice_activity_.Push(std::span<const float>(pcm_).subspan(old_size), speech_);
  voice_activity_.Finish(speech_);
  at_end_ = true;

  summary_.unheard = decoder_->unheard();
  summary_.stated_length = decoder_->stated_length();
  summary_.duration_s = Seconds(available());
  if (summary_.duration_s < options_.min_duration_s) {
    throw StageError(ErrorCode::kTooShort, "The audio is too short.", summary_.duration_s);
  }
  const int64_t frames = speech_begin_ + static_cast<int64_t>(speech_.size());
  const int64_t with_speech = speech_frames_ + std::accumulate(speech_.begin(), speech_.end(), int64_t{0});
  summary_.speech_ratio = frames > 0 ? static_cast<double>(with_speech) / static_cast<double>(frames) : 0.0;
  summary_.clipped_ratio = decoded_samples_ > 0
                               ? static_cast<double>(clipped_samples_) / static_cast<double>(decoded_samples_)
                               : 0.0;
  summary_.high_band_drop_db = voice_activity_.levels().HighBandDropDb();
  summary_.noise_gap_db = voice_activity_.levels().NoiseGapDb();
}

// Always true, except after a checkpoint that is damaged or from another file.
void Preparer::RequireHeld(const SampleRange& window) const {
  const int64_t decided_frames = speech_begin_ + static_cast<int64_t>(speech_.size());
  if (window.begin >= pcm_begin_ && window.end <= available() && window.begin / kFrame >= speech_begin_ &&
      (window.end + kFrame - 1) / kFrame <= decided_frames) {
    return;
  }
  throw StageError(ErrorCode::kInternal, "The checkpoint does not belong to this file.");
}

double Preparer::NonSpeechPercent(const SampleRange& window) const {
  const auto begin = speech_.begin() + (window.begin / kFrame - speech_begin_);
  const auto end = speech_.begin() + ((window.end + kFrame - 1) / kFrame - speech_begin_);
  const auto with_speech = std::accumulate(begin, end, int64_t{0});
  return 100.0 * (1.0 - static_cast<double>(with_speech) / static_cast<double>(end - begin));
}

void Preparer::SkipWindow(const SampleRange& window, double non_speech_percent) {
  const AudioWindow skipped{At(window.begin), At(window.end)};
  if (live_ != nullptr) skipped_live_.push_back({skipped, non_speech_percent});
  if (!skipping_) {
    skipping_ = true;
    summary_.skipped.push_back({skipped.start_s, skipped.end_s, non_speech_percent, {skipped}});
    return;
  }
  SkippedStretch& stretch = summary_.skipped.back();
  const double old_s = stretch.end_s - stretch.start_s;
  // The last window may overlap the one before it; only its new part counts.
  const double new_s = skipped.end_s - stretch.end_s;
  stretch.non_speech_percent =
      (stretch.non_speech_percent * old_s + non_speech_percent * new_s) / (old_s + new_s);
  stretch.end_s = skipped.end_s;
  stretch.windows.push_back(skipped);
}

void Preparer::DropConsumed() {
  // After a checkpoint the next window may begin after all audio received so far.
  int64_t keep_from = std::min({planner_->earliest_begin(), available(), decided()});
  if (live_ != nullptr) {
    keep_from = std::max(pcm_begin_, planner_->Expected().begin - kLookBackSamples);
    if (!closer_.empty()) keep_from = std::min(keep_from, closer_.front().begin);
  }
  keep_from = keep_from / kFrame * kFrame;
  const int64_t samples = keep_from - pcm_begin_;
  if (samples < (live_ != nullptr ? kSampleRateHz : kDropStepSamples)) return;
  // Audio and decisions begin at different offsets.
  const auto frames = static_cast<ptrdiff_t>(keep_from / kFrame - speech_begin_);
  speech_frames_ += std::accumulate(speech_.begin(), speech_.begin() + frames, int64_t{0});
  speech_.erase(speech_.begin(), speech_.begin() + frames);
  pcm_.erase(pcm_.begin(), pcm_.begin() + samples);
  coded_rate_.DropBefore(keep_from);
  speech_begin_ += frames;
  pcm_begin_ = keep_from;
}

}  // namespace veravox
