// SPDX-License-Identifier: Apache-2.0

/** A window of the audio, in samples of 16 kHz. */
export interface Chunk {
  readonly startSample: number;
  readonly endSample: number;
}

export const SAMPLES_PER_S = 16_000;
const CHUNK_SAMPLES = 5 * SAMPLES_PER_S;
const MIN_RESIDUAL_SAMPLES = 1 * SAMPLES_PER_S;

export const samplesIn = (seconds: number): number => Math.round(seconds * SAMPLES_PER_S);

/**
 * Every window that audio of this length is cut into, whether it was scored or skipped, as
 * native/windows/window_planner.h has it: no overlap, but the last one slides back so that it is full.
 */
export function chunksOf(durationS: number): Chunk[] {
  const totalSamples = samplesIn(durationS);
  const chunks: Chunk[] = [];
  let startSample = 0;
  while (totalSamples >= startSample + CHUNK_SAMPLES + MIN_RESIDUAL_SAMPLES) {
    chunks.push({ startSample, endSample: startSample + CHUNK_SAMPLES });
    startSample += CHUNK_SAMPLES;
  }
  chunks.push({ startSample: Math.max(0, totalSamples - CHUNK_SAMPLES), endSample: totalSamples });
  return chunks;
}
