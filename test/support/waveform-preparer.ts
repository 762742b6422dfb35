// SPDX-License-Identifier: Apache-2.0
import { inputTextOf } from '../../src/analysis/models/input-text.js';
import { loadAddon, type Preparer } from '../../src/base/addon/addon.js';

/** Windows of 5 s of unchanged samples, in the addon's form. */
export const waveformInput = (rateHz: 16_000): string =>
  inputTextOf({
    sample_rate_hz: rateHz,
    window_samples: 5 * rateHz,
    hop_samples: 5 * rateHz,
    short_window: 'repeat',
    features: { kind: 'waveform', input_gain: 1, normalisation: 'none' },
  });

/** Cuts audio into windows of 5 s and returns their samples unchanged. */
export const waveformPreparer = (rateHz: 16_000): Preparer =>
  new (loadAddon().Preparer)(waveformInput(rateHz));
