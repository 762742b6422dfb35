// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { SAMPLE_RATE_HZ, wavOf } from '../../analysis/models/model-audio.js';
import { toServiceError } from '../../analysis/pipeline/stage-failure.js';
import { isStageError, loadAddon } from '../../base/addon/addon.js';

/**
 * The audio of several files one after the other, as one WAV file at the rate at which models take it.
 * @throws ServiceError for a file that cannot be decoded, and the errors of reading it
 */
export async function joinedRecording(files: readonly string[]): Promise<Uint8Array> {
  const parts: Float32Array[] = [];
  for (const file of files) parts.push(await samplesOf(file));
  return wavOf(parts);
}

async function samplesOf(file: string): Promise<Float32Array> {
  const addon = loadAddon();
  const bytes = await readFile(file);
  try {
    const { samples, sampleRateHz } = addon.decode(bytes);
    if (sampleRateHz === SAMPLE_RATE_HZ) return samples;
    return new addon.Resampler(sampleRateHz, SAMPLE_RATE_HZ).convert(samples);
  } catch (error) {
    if (!isStageError(error)) throw error;
    throw toServiceError(error, { minDurationS: 0, maxDurationS: Number.POSITIVE_INFINITY }, 0);
  }
}
