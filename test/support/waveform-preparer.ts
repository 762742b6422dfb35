// SPDX-License-Identifier: Apache-2.0
import { inputTextOf } from '../../src/analysis/models/input-text.js';
import { loadAddon, type Preparer } from '../../src/base/addon/addon.js';

/** Cuts audio into windows of 5 s and gives their samples as they are. */
export function waveformPreparer(rateHz: 16_000): Preparer {
  return new (loadAddon().Preparer)(
    inputTextOf({
      sample_rate_hz: rateHz,
      window_samples: 5 * rateHz,
      hop_samples: 5 * rateHz,
      short_window: 'repeat',
      features: { kind: 'waveform', input_gain: 1, normalisation: 'none' },
    }),
  );
}
