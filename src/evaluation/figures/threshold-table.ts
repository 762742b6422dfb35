// SPDX-License-Identifier: Apache-2.0
import type { ErrorRates } from './ranked-scores.js';
import { thresholdFor } from './threshold-search.js';

const USEFUL_THRESHOLDS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const USEFUL_TARGETS = [0.001, 0.01, 0.02, 0.05, 0.1];

export interface ListedThreshold {
  readonly threshold: number;
  /** The share of false positives that it was chosen for. */
  readonly targetFpr: number | null;
}

/**
 * Thresholds for a table: tenths, the one that was asked for, and those that keep to a share of false positives.
 * @returns a target that no threshold keeps to is left out, or all of them if there are no negatives
 */
export function listedThresholds(
  scores: readonly number[],
  isPositive: readonly boolean[],
  asked: number,
): ListedThreshold[] {
  const fixed = [...new Set([...USEFUL_THRESHOLDS, asked])].sort((a, b) => a - b);
  const targets = isPositive.includes(false) ? USEFUL_TARGETS : [];
  return [
    ...fixed.map((threshold) => ({ threshold, targetFpr: null })),
    ...targets.flatMap((value) => {
      const threshold = thresholdFor({ rate: 'fpr', value }, scores, isPositive);
      return threshold === undefined ? [] : [{ threshold, targetFpr: value }];
    }),
  ];
}

/** Both error rates at a threshold. */
export function ratesAt(
  { thresholds, falsePositive, falseNegative }: ErrorRates,
  threshold: number,
): { readonly fpr: number; readonly fnr: number } {
  let low = 0;
  let high = thresholds.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((thresholds[middle] as number) >= threshold) high = middle;
    else low = middle + 1;
  }
  return { fpr: falsePositive[low] as number, fnr: falseNegative[low] as number };
}
