// SPDX-License-Identifier: Apache-2.0
import type { Holder } from '../admission/shared-budget.js';

/** Upload memory that is reserved for a body of which the end has not arrived. */
export interface FillingRegion {
  readonly holder: Holder;
  readonly bytes: number;
  readonly sinceMs: number;
  readonly receivedBytes: number;
  /** Gives the memory back, and the body up. */
  cut(): void;
}

/** An upload's pace is unknown before. */
const MIN_AGE_MS = 1000;
/** An upload that will be complete this soon keeps its memory. */
const SOON_MS = 5000;

/** Time that the memory will still be held, at the pace so far. */
function remainingMs({ bytes, receivedBytes, sinceMs }: FillingRegion, nowMs: number): number {
  return ((bytes - receivedBytes) * (nowMs - sinceMs)) / Math.max(1, receivedBytes);
}

/** The slowest uploads whose memory together frees `neededBytes`. */
export function slowest(
  regions: readonly FillingRegion[],
  neededBytes: number,
  nowMs: number,
): FillingRegion[] {
  const slow = regions
    .filter((region) => nowMs - region.sinceMs >= MIN_AGE_MS)
    .map((region) => ({ region, remainingMs: remainingMs(region, nowMs) }))
    .filter((candidate) => candidate.remainingMs > SOON_MS)
    .sort((a, b) => b.remainingMs - a.remainingMs);
  let freedBytes = 0;
  const chosen: FillingRegion[] = [];
  for (const { region } of slow) {
    if (freedBytes >= neededBytes) break;
    chosen.push(region);
    freedBytes += region.bytes;
  }
  return chosen;
}
