// SPDX-License-Identifier: Apache-2.0
import type { SpectrogramRecipe } from '../../src/analysis/models/manifest.js';

/** 80 log-mel bands, common in speech recognition. */
export const logMelRecipe: SpectrogramRecipe = {
  kind: 'spectrogram',
  fft_size: 512,
  window_length: 400,
  hop_length: 160,
  window: 'hann',
  periodic_window: false,
  centred: false,
  pre_emphasis: 0,
  remove_dc_offset: false,
  input_gain: 1,
  scale: 'mel',
  bands: 80,
  first_bin: 0,
  fmin_hz: 20,
  fmax_hz: 8000,
  mel_formula: 'htk',
  mel_norm: 'none',
  triangles_on_mel_axis: false,
  power: 2,
  log: 'natural',
  log_floor: 1e-10,
  normalisation: 'none',
  normalise_globally: false,
  layout: 'bands_frames',
};
