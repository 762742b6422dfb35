// SPDX-License-Identifier: Apache-2.0

/** A window of the audio, in samples of 16 kHz. */
export interface Chunk {
  readonly startSample: number;
  readonly endSample: number;
}

export const SAMPLES_PER_S = 16_000;
const CHUNK_SAMPLES = 5 * SAMPLES_PER_S;
const MAX_UNHEARD_SAMPLES = SAMPLES_PER_S / 10;

export const samplesIn = (seconds: number): number => Math.round(seconds * SAMPLES_PER_S);

/**
 * Every window that audio of this length is cut into, whether it was scored or skipped, as
 * native/windows/window_planner.h has it: no overlap, but the last one slides back so that it is full, and at most
 * 0.1 s before it is in no window.
 */
export function chunksOf(durationS: number): Chunk[] {
  const totalSamples = samplesIn(durationS);
  const chunks: Chunk[] = [];
  let startSample = 0;
  while (totalSamples > startSample + CHUNK_SAMPLES + MAX_UNHEARD_SAMPLES) {
    chunks.push({ startSample, endSample: startSample + CHUNK_SAMPLES });
    startSample += CHUNK_SAMPLES;
  }
  chunks.push({ startSample: Math.max(0, totalSamples - CHUNK_SAMPLES), endSample: totalSamples });
  return chunks;
}
