// SPDX-License-Identifier: Apache-2.0

/** The error that must not be more frequent than this share: of the negatives called positive, or of the positives missed. */
export interface ErrorTarget {
  readonly rate: 'fpr' | 'fnr';
  /** 0..1 */
  readonly value: number;
}

/** Thresholds are told with six decimals. */
const DECIMALS = 1e6;
const rounded = (value: number): number => Math.round(value * DECIMALS) / DECIMALS;

/**
 * The threshold that keeps to the target on these samples and judges as few of the other class wrongly as it can: for
 * `fpr` the lowest such threshold, for `fnr` the highest. It lies in the middle between the scores next to it, so that it
 * depends on neither of them by more than it must.
 * @param scores 0..1
 * @returns undefined if no threshold from 0 to 1 keeps to it, because too many samples have a score of 1
 * @throws RangeError if the class of the target has no sample
 */
export function thresholdFor(
  target: ErrorTarget,
  scores: readonly number[],
  isPositive: readonly boolean[],
): number | undefined {
  const concerned = scores.filter((_, i) => isPositive[i] === (target.rate === 'fnr')).sort((a, b) => a - b);
  if (concerned.length === 0)
    throw new RangeError('There is no sample of the class that the target is about.');
  // 0.29 * 100 is 28.999...: such products must not cost a sample.
  const allowed = Math.floor(target.value * concerned.length + 1e-9);
  const rising = [...new Set(scores)].sort((a, b) => a - b);
  if (target.rate === 'fpr') {
    if (allowed === concerned.length) return 0;
    // The highest score that must stay below the threshold.
    const below = concerned[concerned.length - 1 - allowed] as number;
    if (below >= 1) return undefined;
    return between(below, rising.find((score) => score > below) ?? 1);
  }
  if (allowed === concerned.length) return 1;
  // The lowest score that must reach it.
  const reaching = concerned[allowed] as number;
  return between(rising.findLast((score) => score < reaching) ?? 0, reaching);
}

/** A threshold above `low` and at most `high`. */
function between(low: number, high: number): number {
  const middle = rounded((low + high) / 2);
  return middle > low && middle <= high ? middle : high;
}
