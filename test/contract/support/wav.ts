// SPDX-License-Identifier: Apache-2.0
import { RATE_HZ } from './audio.js';

interface WavForm {
  readonly rateHz?: number;
  /** Samples of several channels are interleaved. */
  readonly channels?: number;
  /** 8 keeps the upper bits of each sample. */
  readonly bits?: 8 | 16;
  /** Size of the whole file: a JUNK chunk, which readers skip, fills the rest. */
  readonly totalBytes?: number;
}

export function wav(samples: Int16Array, form: WavForm = {}): Buffer {
  const { rateHz = RATE_HZ, channels = 1, bits = 16, totalBytes } = form;
  const frameBytes = (channels * bits) / 8;
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rateHz, 4);
  format.writeUInt32LE(rateHz * frameBytes, 8);
  format.writeUInt16LE(frameBytes, 12);
  format.writeUInt16LE(bits, 14);
  const before = chunk('fmt ', format);
  const after = chunk('data', bits === 16 ? sixteenBits(samples) : eightBits(samples));
  const file = riff([before, after]);
  if (totalBytes === undefined) return file;

  const fillerBytes = totalBytes - file.length - 8;
  if (fillerBytes < 0) throw new Error(`${file.length} bytes of audio do not fit into ${totalBytes}.`);
  // Chunks have an even length; a byte behind the last one belongs to none.
  const filled = riff([before, chunk('JUNK', Buffer.alloc(fillerBytes - (fillerBytes % 2))), after]);
  return fillerBytes % 2 === 0 ? filled : Buffer.concat([filled, Buffer.alloc(1)]);
}

function sixteenBits(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

function eightBits(samples: Int16Array): Buffer {
  return Buffer.from(Uint8Array.from(samples, (sample) => (sample >> 8) + 128));
}

function chunk(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}

function riff(chunks: readonly Buffer[]): Buffer {
  const content = Buffer.concat([Buffer.from('WAVE'), ...chunks]);
  return chunk('RIFF', content);
}
