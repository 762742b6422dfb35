// SPDX-License-Identifier: Apache-2.0
import { type Histogram, SCORE_BINS } from './score-bins.js';

/**
 * Bins that are compared as one. With half as many bins, the index needs half as many files until chance alone no longer looks
 * like a change.
 */
const BINS_TOGETHER = 2;
/** In place of nothing, whose logarithm is infinite. */
const PSEUDO_COUNT = 0.5;

/**
 * The population stability index: the sum over bins of (q - p) ln(q / p), where p and q are the shares of reference and current
 * scores. Each bin gets half a score more on both sides; bins that are empty on both sides are left out. Undefined without scores.
 */
export function stabilityIndex(reference: Histogram, current: Histogram): number | undefined {
  const pairs = Array.from({ length: SCORE_BINS / BINS_TOGETHER }, (_, i) => [
    sumAt(reference, i),
    sumAt(current, i),
  ]).filter(([before = 0, now = 0]) => before + now > 0);
  const [before, now] = [0, 1].map((side) =>
    pairs.reduce((sum, pair) => sum + (pair[side] as number), 0),
  ) as [number, number];
  if (before === 0 || now === 0) return undefined;
  const added = PSEUDO_COUNT * pairs.length;
  return pairs.reduce((sum, [reference = 0, current = 0]) => {
    const p = (reference + PSEUDO_COUNT) / (before + added);
    const q = (current + PSEUDO_COUNT) / (now + added);
    return sum + (q - p) * Math.log(q / p);
  }, 0);
}

const sumAt = (histogram: Histogram, group: number): number =>
  histogram.slice(group * BINS_TOGETHER, (group + 1) * BINS_TOGETHER).reduce((sum, count) => sum + count, 0);

/** Files that a comparison needs; with fewer, chance alone is often above 0.1. */
export const MIN_CURRENT_FILES = 300;
export const REFERENCE_FILES = 500;

const driftReadings = ['too_few', 'stable', 'moderate', 'large'] as const;
export type DriftReading = (typeof driftReadings)[number];

/** As the index is usually read: below 0.1 nothing has changed, from 0.25 on much has. */
export function readingOf(index: number): DriftReading {
  if (index < 0.1) return 'stable';
  return index < 0.25 ? 'moderate' : 'large';
}
