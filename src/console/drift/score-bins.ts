// SPDX-License-Identifier: Apache-2.0

/**
 * The bins of scores, on the scale of their logit: ln(score / (1 - score)). The first bin is below the first edge, the last one
 * from the last edge on. Scores of most detectors lie close to 0 and 1, where a bin of equal scores would have all of them.
 */
export const logitEdges: readonly number[] = Array.from({ length: 17 }, (_, i) => i - 8);
export const SCORE_BINS = logitEdges.length + 1;

/** @param score 0..1 */
export function binOf(score: number): number {
  const logit = Math.log(score / (1 - score));
  // Infinite at the ends of the scale.
  return Math.max(0, Math.min(SCORE_BINS - 1, Math.floor(logit) + 9));
}

/** The counted scores. */
export const scoreKinds = ['file', 'window'] as const;
export type ScoreKind = (typeof scoreKinds)[number];

/** Numbers of scores per bin. */
export type Histogram = readonly number[];

export const emptyHistogram = (): number[] => new Array<number>(SCORE_BINS).fill(0);
export const totalOf = (histogram: Histogram): number => histogram.reduce((sum, count) => sum + count, 0);

export function addTo(sum: number[], histogram: Histogram): void {
  for (const [bin, count] of histogram.entries()) sum[bin] = (sum[bin] ?? 0) + count;
}
