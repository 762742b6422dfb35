// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace veravox {

// Lowest frequency of any voice.
constexpr float kLowestAudibleHz = 80.0f;

// A model's input, as models/manifest.json describes it. src/analysis/models/manifest-schema.ts
// documents every field. Defaults are those of the manifest. All lengths are samples at the model's sample
// rate. A waveform uses only input_gain and normalisation.
struct FeatureRecipe {
  enum class Kind { kWaveform, kSpectrogram };
  // Symmetric, or periodic by periodic_window. Povey is Kaldi's: Hann to the power of 0.85.
  enum class Window { kHann, kHamming, kPovey, kRectangular };
  enum class Scale { kLinear, kMel };
  enum class MelFormula { kHtk, kSlaney };
  // Slaney: each triangle has unit area over Hz. None: each has a peak of 1.
  enum class MelNorm { kNone, kSlaney };
  // Logarithm of max(value, log_floor); kDecibel is 10 * log10.
  enum class Log { kNone, kNatural, kLog10, kDecibel };
  // Per band over the frames (waveform: over the samples). Variance: that of the values at hand plus 1e-7.
  enum class Normalisation { kNone, kMean, kMeanVariance };
  // Values beyond the ends of the audio, for centred frames.
  enum class Edges { kMirrored, kZeros };
  // kBandsFrames: all frames of band 0 first.
  enum class Layout { kBandsFrames, kFramesBands };

  Kind kind = Kind::kSpectrogram;
  int sample_rate_hz = 16000;

  int fft_size = 512;       // even; fast when it has small prime factors
  int window_length = 400;  // zeros fill the rest of the FFT
  int hop_length = 160;
  Window window = Window::kHann;
  bool periodic_window = false;
  // True: the middle of frame t is sample t * hop_length, as in librosa. False: frame t starts at sample
  // t * hop_length, and only whole frames count, as Kaldi does.
  bool centred = false;
  Edges edges = Edges::kMirrored;  // torch.stft mirrors, librosa has taken zeros since 0.9
  float pre_emphasis = 0.0f;       // per frame, as Kaldi does: x[i] -= k * x[i-1], x[0] -= k * x[0]
  bool remove_dc_offset = false;   // per frame, before pre-emphasis
  float input_gain = 1.0f;         // Kaldi works on 16-bit integers: 32768
  // Ignores what nobody can hear. The audio has passed a RumbleFilter (see rumble_filter.h), each window is
  // brought to one level, and the curves after the bands ignore everything below kLowestAudibleHz and
  // everything that reversed polarity changes.
  bool audible_only = false;

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
  float log_floor = 1e-10f;  // Kaldi: 1.1920929e-7
  Normalisation normalisation = Normalisation::kNone;
  // Spectrograms with a logarithm: values further than this below the largest of the window are raised to
  // that floor, and a global normalisation leaves them out of its mean and variance. Silence around the
  // speech then changes nothing within it. 0: off.
  float dynamic_range_db = 0.0f;
  // Normalise over all bands and frames together instead of per band.
  bool normalise_globally = false;
  Layout layout = Layout::kBandsFrames;
  // Spectrograms: FFT sizes of the mean spectra that follow, in this order, without normalisation (see
  // mean_spectrum.h).
  std::vector<int> mean_spectrum_fft_sizes;
  // The same for the phase coherences, which come last (see phase_coherence.h).
  std::vector<int> phase_coherence_fft_sizes;
};

}  // namespace veravox
