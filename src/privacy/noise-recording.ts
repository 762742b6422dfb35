// SPDX-License-Identifier: Apache-2.0

const SAMPLE_RATE_HZ = 16_000;
const DURATION_S = 6;
const HEADER_BYTES = 44;

/** Noise in bursts, as a WAV file: something to analyse where no recording is at hand. */
export function noiseRecording(): Uint8Array<ArrayBuffer> {
  const samples = SAMPLE_RATE_HZ * DURATION_S;
  const file = new Uint8Array(HEADER_BYTES + 2 * samples);
  const view = new DataView(file.buffer);
  const text = (offset: number, value: string): void => file.set(new TextEncoder().encode(value), offset);
  text(0, 'RIFF');
  view.setUint32(4, file.length - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, SAMPLE_RATE_HZ, true);
  view.setUint32(28, 2 * SAMPLE_RATE_HZ, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, 2 * samples, true);
  for (let i = 0; i < samples; i++) {
    const loudness = Math.sin((20 * i) / SAMPLE_RATE_HZ) ** 2;
    view.setInt16(HEADER_BYTES + 2 * i, 12_000 * loudness * (Math.random() - 0.5), true);
  }
  return file;
}
