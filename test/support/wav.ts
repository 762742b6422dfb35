// SPDX-License-Identifier: Apache-2.0

/** A mono 16-bit WAV file. Samples beyond full scale are clipped. */
export function monoWav(samples: Float32Array, sampleRateHz: number): Uint8Array {
  const file = Buffer.alloc(44 + samples.length * 2);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(36 + samples.length * 2, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(sampleRateHz, 24);
  file.writeUInt32LE(sampleRateHz * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(samples.length * 2, 40);
  samples.forEach((sample, i) => {
    file.writeInt16LE(Math.round(Math.min(1, Math.max(-1, sample)) * 32767), 44 + i * 2);
  });
  return file;
}

/** The samples, repeated to `count`. */
export function repeated(samples: Float32Array, count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => samples[i % samples.length] as number);
}

/** A mono 16-bit WAV file that repeats the samples until it has at least `minBytes`. */
export function longMonoWav(samples: Float32Array, sampleRateHz: number, minBytes: number): Uint8Array {
  const once = monoWav(samples, sampleRateHz);
  const content = once.subarray(44);
  const file = Buffer.allocUnsafe(44 + Math.ceil(minBytes / content.length) * content.length);
  file.set(once.subarray(0, 44));
  file.fill(content, 44);
  file.writeUInt32LE(file.length - 8, 4);
  file.writeUInt32LE(file.length - 44, 40);
  return file;
}
