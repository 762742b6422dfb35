// SPDX-License-Identifier: Apache-2.0
import { SAMPLE_RATE_HZ, wavOf } from '../../analysis/models/model-audio.js';

/** Bursts of noise as a WAV file, to analyse without a recording at hand. */
export function noiseRecording(durationS: number): Uint8Array<ArrayBuffer> {
  const samples = Float32Array.from({ length: durationS * SAMPLE_RATE_HZ }, (_, i) => {
    const loudness = Math.sin((20 * i) / SAMPLE_RATE_HZ) ** 2;
    return 0.37 * loudness * (Math.random() - 0.5);
  });
  return wavOf([samples]);
}
