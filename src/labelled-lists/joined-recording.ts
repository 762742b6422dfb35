// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { isStageError, loadAddon } from '../addon/addon.js';
import { toServiceError } from '../pipeline/stage-failure.js';
import { SAMPLES_PER_S } from '../verdict/chunk-plan.js';

const HEADER_BYTES = 44;
const BYTES_PER_SAMPLE = 4;
const IEEE_FLOAT = 3;

/**
 * The audio of several files one after the other, as one WAV file at the rate at which models take it.
 * @throws ServiceError for a file that cannot be decoded, and what reading it throws
 */
export async function joinedRecording(files: readonly string[]): Promise<Uint8Array> {
  const parts: Float32Array[] = [];
  for (const file of files) parts.push(await samplesOf(file));
  const samples = parts.reduce((sum, part) => sum + part.length, 0);
  const wav = Buffer.alloc(HEADER_BYTES + samples * BYTES_PER_SAMPLE);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(IEEE_FLOAT, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(SAMPLES_PER_S, 24);
  wav.writeUInt32LE(SAMPLES_PER_S * BYTES_PER_SAMPLE, 28);
  wav.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  wav.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(samples * BYTES_PER_SAMPLE, 40);
  let at = HEADER_BYTES;
  for (const part of parts) {
    wav.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
    at += part.byteLength;
  }
  return wav;
}

async function samplesOf(file: string): Promise<Float32Array> {
  const addon = loadAddon();
  const bytes = await readFile(file);
  try {
    const { samples, sampleRateHz } = addon.decode(bytes);
    if (sampleRateHz === SAMPLES_PER_S) return samples;
    return new addon.Resampler(sampleRateHz, SAMPLES_PER_S).convert(samples);
  } catch (error) {
    if (!isStageError(error)) throw error;
    throw toServiceError(error, { minDurationS: 0, maxDurationS: Number.POSITIVE_INFINITY }, 0);
  }
}
