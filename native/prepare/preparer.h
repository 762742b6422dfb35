// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
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

struct AudioWindow {
  double start_s = 0.0;
  double end_s = 0.0;
};

// No limits beyond the decoder's: the caller decides what is too short or too silent.
struct PrepareOptions {
  DecodeOptions decode;
  double min_duration_s = 0.0;
  // Windows with a larger share of non-speech frames are skipped; 0..100.
  double silence_threshold_percent = 100.0;
  // Least seconds of audio between two checkpoints; 0: no checkpoints.
  double checkpoint_interval_s = 0.0;
  // Windows to make in place of those of the plan, at least one sample long and in order of their beginning;
  // the audio behind them is not decoded. Not for live audio, and without checkpoints.
  std::vector<AudioWindow> windows;
};

// One model input and its window. With a region, times are still those of the whole recording.
struct PreparedInput {
  int64_t window_index = 0;  // counts windows that were not skipped
  int input_index = 0;
  int inputs_in_window = 1;
  double start_s = 0.0;
  double end_s = 0.0;
  bool is_closer = false;      // of a window that LookCloser asked for; these have indices of their own
  double file_progress = 0.0;  // share of the file's bytes read so far, 0..1
  std::string_view codec;      // one of kLossyCodecs; empty if not coded, or lossless
  // With a codec: bits of all channels in the busiest second of the window. At a variable rate, silence takes
  // few bits, so other seconds say little about quality.
  double coded_bits_per_s = 0.0;
};

// How far the windows of live audio are settled.
struct LiveState {
  bool at_end = false;
  // Inputs of windows with a smaller index are certain. A later one's are made early, as it will most likely
  // be a window: if the audio ends soon after it, another one with the same index replaces it, or none.
  int64_t certain_windows = 0;
  // Seconds of audio until the next change.
  double wanted_s = 0.0;
};

// A window skipped for lack of speech.
struct SkippedWindow {
  AudioWindow window;
  double non_speech_percent = 0.0;
};

// A run of windows skipped for lack of speech. The last one may overlap the one before it.
struct SkippedStretch {
  double start_s = 0.0;
  double end_s = 0.0;
  double non_speech_percent = 0.0;
  std::vector<AudioWindow> windows;
};

struct PrepareSummary {
  double duration_s = 0.0;             // of the region
  int channels = 0;                    // of the file, the most at one time
  bool has_inverted_channels = false;  // they would have cancelled others in the mix
  int64_t damaged_packets = 0;
  double damaged_from_s = 0.0, damaged_to_s = 0.0;  // times of the first and the last one
  std::vector<double> damaged_at_s;                 // times of missing packets; at most one per second
  std::vector<Unheard> unheard;
  std::optional<StatedLength> stated_length;  // if the file is shorter than it says
  double speech_ratio = 0.0;                  // of 10 ms frames
  double clipped_ratio = 0.0;                 // of decoded samples
  std::optional<double> high_band_drop_db;    // see SpeechLevels, also for the next
  std::optional<double> noise_gap_db;
  std::vector<SkippedStretch> skipped;
  double decode_ms = 0.0;    // demux, decode, down-mix
  double features_ms = 0.0;  // resample, voice activity, features
};

// From a file's bytes to model inputs, window by window, in memory that does not grow with the duration.
// Tables are made once per object; open any number of files, one after another. Not thread-safe.
class Preparer {
 public:
  static constexpr int kSampleRateHz = VoiceActivityDetector::kSampleRateHz;
  static constexpr int64_t kWindowSamples = 5 * kSampleRateHz;
  static constexpr int64_t kMaxUnheardSamples = kSampleRateHz / 10;
  static constexpr int64_t kLookBackSamples = 10 * kSampleRateHz;

  explicit Preparer(const ModelInputSpec& spec);

  size_t input_size() const { return inputs_.input_size(); }

  // `source` and the stop signal's flag outlive the file (until Close or the next Open). `checkpoint` is
  // empty, or was taken from the same file with the same options: Next() then continues after the window of
  // the checkpoint, with the same numbers to the last bit. Throws StageError.
  void Open(ByteSource& source, const PrepareOptions& options, const StopSignal& stop,
            std::span<const uint8_t> checkpoint = {});
  // The same for a file in memory. `bytes` and the stop signal's flag outlive the file (until Close or the
  // next Open). Throws StageError.
  void Open(std::span<const uint8_t> bytes, const PrepareOptions& options, const StopSignal& stop);
  // Audio that arrives in pieces. Next() returns false after the last piece so far; live_state() tells what
  // that means. Results equal those of a file with the same content. Throws StageError.
  void OpenLive(const LiveFormat& format, const PrepareOptions& options);
  void Push(std::span<const uint8_t> piece);
  void FinishPushing();
  LiveState live_state() const;
  // Live audio: windows to make in addition to those of the plan, in order of their beginning, each once its
  // audio is there. They may begin up to kLookBackSamples before the start of the next window of the plan.
  // Windows with too little speech or beyond the end of the audio are left out.
  void LookCloser(std::span<const AudioWindow> windows);
  // Windows of live audio skipped since the last call. The summary also has them.
  std::vector<SkippedWindow> TakeSkippedWindows() { return std::exchange(skipped_live_, {}); }
  // Sets the stop signal of the next calls; its flag outlives them. Call it before each batch of work on live
  // audio.
  void SetStop(const StopSignal& stop) { stop_ = stop; }
  // Decodes until there is an input for Next(); false at the end of the audio.
  bool Advance();
  // Writes the next model input; false at the end of the audio. `output` has input_size() elements.
  // Throws StageError; close the file then.
  bool Next(std::span<float> output, PreparedInput& input);
  // Call it after the last input of each window: a state from which another Preparer can continue after that
  // window. About 20 KiB; empty if no checkpoint is due.
  std::vector<uint8_t> TakeCheckpoint();
  // Call it after Next() has returned true: stretches skipped since the last call, before the input's window.
  std::vector<SkippedStretch> TakeSkipped() { return std::exchange(summary_.skipped, {}); }
  // Seconds of audio decoded so far.
  double decoded_s() const { return static_cast<double>(available()) / kSampleRateHz; }
  // The findings so far; complete once Next() has returned false.
  const PrepareSummary& summary() const { return summary_; }
  // Releases the file's bytes.
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
  bool FindCloserWindow(SampleRange& window);
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
  // The time of a 16 kHz sample in the recording.
  double At(int64_t sample) const;
  int64_t Sample(double at_s) const;
  int64_t available() const { return pcm_begin_ + static_cast<int64_t>(pcm_.size()); }

  ModelInputMaker inputs_;
  VoiceActivityDetector voice_activity_;

  PrepareOptions options_;
  StopSignal stop_;
  std::optional<MemorySource> memory_;
  std::unique_ptr<Decoder> decoder_;
  LiveSource* live_ = nullptr;  // of decoder_, if the audio is live
  ResamplerCache resamplers_;
  Resampler* resampler_ = nullptr;  // the current one, in resamplers_
  int resampler_rate_hz_ = 0;
  int64_t resamplers_before_ = 0;  // made for earlier files
  std::string_view codec_;         // see PreparedInput
  CodedRate coded_rate_;
  std::optional<WindowPlanner> planner_;
  PrepareSummary summary_;
  bool at_end_ = false;

  // 16 kHz audio from sample pcm_begin_ on, and its speech decisions from frame speech_begin_ on.
  std::vector<float> pcm_;
  int64_t pcm_begin_ = 0;
  std::vector<uint8_t> speech_;
  int64_t speech_begin_ = 0;
  int64_t speech_frames_ = 0;  // frames with speech among those decided so far
  std::vector<float> finite_;
  // For models limited to audible sound: removes constants before the resampler, which would turn them into a
  // step at the start.
  bool audible_only_;
  std::optional<float> origin_;
  RumbleFilter rumble_filter_;
  std::vector<float> unfiltered_;

  int64_t decoded_samples_ = 0;
  int64_t clipped_samples_ = 0;
  bool skipping_ = false;

  // The stream's state after captured_at_ samples; empty if no checkpoint is due.
  std::vector<uint8_t> captured_;
  int64_t captured_at_ = 0;

  // Live audio: a window returned before it was certain.
  std::optional<SampleRange> early_;
  std::vector<SkippedWindow> skipped_live_;
  std::deque<SampleRange> closer_;
  int64_t closer_count_ = 0;
  bool is_closer_ = false;  // window_
  SampleRange window_;
  double window_bits_per_s_ = 0.0;
  int64_t window_count_ = 0;
  int next_input_ = 0;
  int inputs_in_window_ = 0;
};

}  // namespace veravox
