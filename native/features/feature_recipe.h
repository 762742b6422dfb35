// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace veravox {

// How a model wants its input, as models/manifest.json states it (src/models/manifest.ts documents every
// field). Defaults are those of the manifest. All lengths are samples at the model's sample rate.
struct FeatureRecipe {
  enum class Kind { kWaveform, kSpectrogram };
  enum class Window { kHann, kHamming, kPovey, kRectangular };  // symmetric, or periodic by periodic_window
  enum class Scale { kLinear, kMel };
  enum class MelFormula { kHtk, kSlaney };
  enum class MelNorm { kNone, kSlaney };                 // Slaney: each triangle has unit area
  enum class Log { kNone, kNatural, kLog10, kDecibel };  // of max(value, log_floor); kDecibel is 10*log10
  enum class Normalisation {
    kNone,
    kMean,
    kMeanVariance
  };                                                 // per band over the frames; waveform: over samples
  enum class Layout { kBandsFrames, kFramesBands };  // kBandsFrames: all frames of band 0 first

  Kind kind = Kind::kSpectrogram;
  int sample_rate_hz = 16000;

  int fft_size = 512;
  int window_length = 400;  // the window stands at the start of the FFT buffer, zeros follow
  int hop_length = 160;
  Window window = Window::kHann;
  bool periodic_window = false;
  // Centred frames (reflection padding of fft_size / 2 on both sides, as librosa does) or only whole frames.
  bool centred = false;
  float pre_emphasis = 0.0f;      // per frame, as Kaldi does: x[i] -= k * x[i-1], x[0] -= k * x[0]
  bool remove_dc_offset = false;  // per frame, before pre-emphasis
  float input_gain = 1.0f;        // Kaldi works on 16-bit integers: 32768

  Scale scale = Scale::kMel;
  // Linear: bands bins of the FFT from first_bin on. Mel: bands triangles between fmin and fmax.
  int bands = 80;
  int first_bin = 0;
  float fmin_hz = 20.0f;
  float fmax_hz = 8000.0f;
  MelFormula mel_formula = MelFormula::kHtk;
  MelNorm mel_norm = MelNorm::kNone;
  // Kaldi places triangles on the mel axis, librosa on the Hz axis.
  bool triangles_on_mel_axis = false;

  float power = 2.0f;  // 1: magnitude, 2: power
  Log log = Log::kNatural;
  float log_floor = 1e-10f;
  Normalisation normalisation = Normalisation::kNone;
  // Normalise over all bands and frames together instead of per band.
  bool normalise_globally = false;
  Layout layout = Layout::kBandsFrames;
};

}  // namespace veravox
