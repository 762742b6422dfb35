// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/decoder.h"
#include "decode/live_source.h"
#include "prepare/coded_rate.h"
#include "prepare/model_input.h"
#include "prepare/rumble_filter.h"
#include "resample/resampler_cache.h"
#include "saved_state.h"
#include "stop_signal.h"
#include "vad/voice_activity.h"
#include "windows/window_planner.h"

namespace veravox {

// Without limits of its own beside those of the decoder: what is too short or too silent, the caller says.
struct PrepareOptions {
  DecodeOptions decode;
  double min_duration_s = 0.0;
  // Windows with a larger share of non-speech frames are skipped; 0..100.
  double silence_threshold_percent = 100.0;
  // Seconds of audio between two checkpoints, at least; 0: none are made.
  double checkpoint_interval_s = 0.0;
};

// One model input, and the window of the audio that it belongs to. With a region, all times are still those
// of the whole recording.
struct PreparedInput {
  int64_t window_index = 0;  // counts the windows that were not skipped
  int input_index = 0;
  int inputs_in_window = 1;
  double start_s = 0.0;
  double end_s = 0.0;
  double file_progress = 0.0;  // share of the file's bytes that were read by now, 0..1
  std::string_view codec;      // one of kLossyCodecs; empty if the sound was not coded, or without loss
  // With a codec: of all channels, in the busiest second of the window. Silence takes few bits at a variable
  // rate, so that others say little of the quality.
  double coded_bits_per_s = 0.0;
};

// How far the windows of live audio are settled.
struct LiveState {
  bool at_end = false;
  // The inputs of windows with a smaller index are certain. Those of a later one are made early, as it will
  // most likely be a window: if the audio ends hardly after it, another one with the same index takes its
  // place, or none.
  int64_t certain_windows = 0;
  // How much more audio brings the next news.
  double wanted_s = 0.0;
};

struct AudioWindow {
  double start_s = 0.0;
  double end_s = 0.0;
};

// A window that was skipped for lack of speech.
struct SkippedWindow {
  AudioWindow window;
  double non_speech_percent = 0.0;
};

// Windows in a row that were skipped for lack of speech. The last one may overlap the one before it.
struct SkippedStretch {
  double start_s = 0.0;
  double end_s = 0.0;
  double non_speech_percent = 0.0;
  std::vector<AudioWindow> windows;
};

struct PrepareSummary {
  double duration_s = 0.0;             // of the region
  int channels = 0;                    // of the file, the most that it has at one time
  bool has_inverted_channels = false;  // since they would have cancelled others in the mix
  int64_t damaged_packets = 0;
  std::vector<double> damaged_at_s;  // where packets are missing for it; at most one entry per second
  std::vector<Unheard> unheard;
  std::optional<StatedLength> stated_length;  // where the file is shorter than it says
  double speech_ratio = 0.0;                  // of 10 ms frames
  double clipped_ratio = 0.0;                 // of decoded samples
  std::optional<double> high_band_drop_db;    // see SpeechLevels, as the next
  std::optional<double> noise_gap_db;
  std::vector<SkippedStretch> skipped;
  double decode_ms = 0.0;    // demux, decode, down-mix
  double features_ms = 0.0;  // resample, voice activity, features
};

// From a file's bytes to model inputs, window by window, in memory that does not grow with the duration.
// Tables are made once per object; open as many files as you like, one after the other. Not thread-safe.
class Preparer {
 public:
  static constexpr int kSampleRateHz = VoiceActivityDetector::kSampleRateHz;
  static constexpr int64_t kWindowSamples = 5 * kSampleRateHz;
  static constexpr int64_t kMaxUnheardSamples = kSampleRateHz / 10;

  explicit Preparer(const ModelInputSpec& spec);

  size_t input_size() const { return inputs_.input_size(); }

  // `source` and the stop signal's flag outlive the file (until Close or the next Open). `checkpoint` is
  // empty, or one that was taken from the same file with the same options: Next() then goes on after the
  // window it was taken at, with the same numbers to the last bit. Throws StageError.
  void Open(ByteSource& source, const PrepareOptions& options, const StopSignal& stop,
            std::span<const uint8_t> checkpoint = {});
  // The same for a file in memory. `bytes` and the stop signal's flag outlive the file (until Close or the
  // next Open). Throws StageError.
  void Open(std::span<const uint8_t> bytes, const PrepareOptions& options, const StopSignal& stop);
  // Audio that comes piece by piece. Next() gives false when it has used up all pieces; live_state() tells
  // what that means. Results are those of a file with the same content. Throws StageError.
  void OpenLive(const LiveFormat& format, const PrepareOptions& options);
  void Push(std::span<const uint8_t> piece);
  void FinishPushing();
  LiveState live_state() const;
  // Windows of live audio that were skipped since the last time. The summary has them, too.
  std::vector<SkippedWindow> TakeSkippedWindows() { return std::exchange(skipped_live_, {}); }
  // For the next calls; its flag outlives them. To be called before each batch of work on live audio.
  void SetStop(const StopSignal& stop) { stop_ = stop; }
  // Decodes until there is an input for Next(); false at the end of the audio.
  bool Advance();
  // Writes the next model input; false at the end of the audio. `output` has input_size() elements.
  // Throws StageError; the file is then to be closed.
  bool Next(std::span<float> output, PreparedInput& input);
  // To be asked after the last input of each window: from where another Preparer can go on after that window,
  // if it is time for a checkpoint. About 20 KiB; empty if there is none.
  std::vector<uint8_t> TakeCheckpoint();
  // To be asked after Next() has returned true: what was skipped since the last time, before the input's
  // window.
  std::vector<SkippedStretch> TakeSkipped() { return std::exchange(summary_.skipped, {}); }
  // Seconds of audio that were decoded so far.
  double decoded_s() const { return static_cast<double>(available()) / kSampleRateHz; }
  // What was seen so far; whole once Next has returned false.
  const PrepareSummary& summary() const { return summary_; }
  // Lets go of the file's bytes.
  void Close();

 private:
  struct Stopwatch;

  void OpenDecoder(ByteSource& source, const PrepareOptions& options, const StopSignal& stop,
                   std::span<const uint8_t> checkpoint);
  void TransferStream(SavedState& state);
  void TransferWindows(SavedState& state);
  void CaptureStream();
  void Restore(std::span<const uint8_t> checkpoint);
  bool FindWindow(SampleRange& window);
  bool FindEarlyWindow(SampleRange& window);
  bool DecodeBlock();
  void NoteDamage();
  void AppendBlock(const MonoBlock& block);
  void Resample(std::span<const float> samples, int rate_hz);
  void FinishResampling();
  void FinishAudio();
  void SkipWindow(const SampleRange& window, double non_speech_percent);
  void RequireHeld(const SampleRange& window) const;
  double NonSpeechPercent(const SampleRange& window) const;
  int64_t decided() const {
    return (speech_begin_ + static_cast<int64_t>(speech_.size())) *
           static_cast<int64_t>(VoiceActivityDetector::kFrameSamples);
  }
  void DropConsumed();
  // The time in the recording of a sample at 16 kHz.
  double At(int64_t sample) const;
  int64_t available() const { return pcm_begin_ + static_cast<int64_t>(pcm_.size()); }

  ModelInputMaker inputs_;
  VoiceActivityDetector voice_activity_;

  PrepareOptions options_;
  StopSignal stop_;
  std::optional<MemorySource> memory_;
  std::unique_ptr<Decoder> decoder_;
  LiveSource* live_ = nullptr;  // of decoder_, if the audio is live
  ResamplerCache resamplers_;
  Resampler* resampler_ = nullptr;  // the one in use, of those in resamplers_
  int resampler_rate_hz_ = 0;
  std::string_view codec_;  // see PreparedInput
  CodedRate coded_rate_;
  std::optional<WindowPlanner> planner_;
  PrepareSummary summary_;
  bool at_end_ = false;

  // 16 kHz audio from sample pcm_begin_ on, and its speech decisions from frame speech_begin_ on.
  std::vector<float> pcm_;
  int64_t pcm_begin_ = 0;
  std::vector<uint8_t> speech_;
  int64_t speech_begin_ = 0;
  int64_t speech_frames_ = 0;  // with speech, of all decided so far
  std::vector<float> finite_;
  // Of models that hear what people hear: constants are taken away before the resampler, which would make a
  // step of them at the start.
  bool audible_only_;
  std::optional<float> origin_;
  RumbleFilter rumble_filter_;
  std::vector<float> unfiltered_;

  int64_t decoded_samples_ = 0;
  int64_t clipped_samples_ = 0;
  bool skipping_ = false;

  // The stream as it was when captured_at_ samples had come; empty if it is not time for a checkpoint.
  std::vector<uint8_t> captured_;
  int64_t captured_at_ = 0;

  // Of live audio: a window that was given before it was certain.
  std::optional<SampleRange> early_;
  std::vector<SkippedWindow> skipped_live_;
  SampleRange window_;
  double window_bits_per_s_ = 0.0;
  int64_t window_count_ = 0;
  int next_input_ = 0;
  int inputs_in_window_ = 0;
};

}  // namespace veravox
