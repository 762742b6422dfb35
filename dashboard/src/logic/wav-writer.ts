// SPDX-License-Identifier: Apache-2.0

const HEADER_BYTES = 44;
const SAMPLE_BYTES = 2;

/** The head of a WAV file with one channel of 16 bits. */
function wavHeader(samples: number, sampleRateHz: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  const text = (at: number, letters: string): void => {
    for (let i = 0; i < letters.length; i++) bytes[at + i] = letters.charCodeAt(i);
  };
  const dataBytes = samples * SAMPLE_BYTES;
  text(0, 'RIFF');
  view.setUint32(4, HEADER_BYTES - 8 + dataBytes, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRateHz, true);
  view.setUint32(28, sampleRateHz * SAMPLE_BYTES, true);
  view.setUint16(32, SAMPLE_BYTES, true);
  view.setUint16(34, 8 * SAMPLE_BYTES, true);
  text(36, 'data');
  view.setUint32(40, dataBytes, true);
  return bytes;
}

/** A WAV file of pieces, as parts of a Blob: nothing is copied. */
export function wavOf(
  pieces: readonly Int16Array<ArrayBuffer>[],
  sampleRateHz: number,
): (Uint8Array<ArrayBuffer> | Int16Array<ArrayBuffer>)[] {
  const samples = pieces.reduce((sum, { length }) => sum + length, 0);
  return [wavHeader(samples, sampleRateHz), ...pieces];
}
