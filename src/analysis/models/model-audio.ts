// SPDX-License-Identifier: Apache-2.0

/** The rate at which every model hears audio. */
export const SAMPLE_RATE_HZ = 16_000;

/** Length of the windows that audio is cut into (native/prepare/preparer.h) and answers are about. */
export const WINDOW_S = 5;

const HEADER_BYTES = 44;
const BYTES_PER_SAMPLE = Float32Array.BYTES_PER_ELEMENT;
const IEEE_FLOAT = 3;

/** The parts one after the other, as a WAV file of 32-bit floats at that rate. */
export function wavOf(parts: readonly Float32Array[]): Uint8Array<ArrayBuffer> {
  const dataBytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
  const file = new Uint8Array(HEADER_BYTES + dataBytes);
  const view = new DataView(file.buffer);
  const text = (offset: number, value: string): void => file.set(new TextEncoder().encode(value), offset);
  text(0, 'RIFF');
  view.setUint32(4, file.length - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, IEEE_FLOAT, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, SAMPLE_RATE_HZ, true);
  view.setUint32(28, SAMPLE_RATE_HZ * BYTES_PER_SAMPLE, true);
  view.setUint16(32, BYTES_PER_SAMPLE, true);
  view.setUint16(34, 8 * BYTES_PER_SAMPLE, true);
  text(36, 'data');
  view.setUint32(40, dataBytes, true);
  let at = HEADER_BYTES;
  for (const part of parts) {
    file.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
    at += part.byteLength;
  }
  return file;
}
