// SPDX-License-Identifier: Apache-2.0
import { samplesToShow } from '../../base/proportion.js';
import { tooFew } from './few-groups.js';
import type { ErrorRates } from './ranked-scores.js';
import type { Task } from './sample.js';
import { thresholdFor } from './threshold-search.js';

const USEFUL_THRESHOLDS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const USEFUL_TARGETS = [0.001, 0.01, 0.02, 0.05, 0.1];

export interface ListedThreshold {
  readonly threshold: number;
  /** The share of false positives that it was chosen for. */
  readonly targetFpr: number | null;
}

/** A target that the samples are too few for. */
export interface UnsupportedTarget {
  readonly targetFpr: number;
  readonly whyNot: string;
}

/** The negatives, and their origin. */
const negatives: Readonly<Record<Task, { readonly samples: string; readonly units: string }>> = {
  detection: { samples: 'human clips', units: 'speakers or sources of human clips' },
  verification: { samples: 'trials of strangers', units: 'speakers in trials of strangers' },
};

/** The origin of the positives. */
const positiveUnits: Readonly<Record<Task, string>> = {
  detection: 'systems or sources of generated clips',
  verification: 'speakers in trials of the right speaker',
};

/** Why there is no interval over units for either error rate; null if there is one. */
export const whyNoIntervals = (
  task: Task,
  units: { readonly positive: number; readonly negative: number },
) => ({
  fpr: tooFew('an interval', units.negative, negatives[task].units),
  fnr: tooFew('an interval', units.positive, positiveUnits[task]),
});

/**
 * Thresholds for a table: tenths, the requested one, and those for a share of false positives.
 * @param negativeUnits the number of units that the negatives come from
 * @returns a target that no threshold keeps to is left out, or all of them if there are no negatives
 */
export function listedThresholds(
  task: Task,
  scores: readonly number[],
  isPositive: readonly boolean[],
  asked: number,
  negativeUnits: number,
): { readonly listed: ListedThreshold[]; readonly unsupported: UnsupportedTarget[] } {
  const fixed = [...new Set([...USEFUL_THRESHOLDS, asked])].sort((a, b) => a - b);
  const listed: ListedThreshold[] = fixed.map((threshold) => ({ threshold, targetFpr: null }));
  const unsupported: UnsupportedTarget[] = [];
  const count = isPositive.filter((is) => !is).length;
  for (const value of count === 0 ? [] : USEFUL_TARGETS) {
    const whyNot = whyUnsupported(task, value, count, negativeUnits);
    const threshold = whyNot === null ? thresholdFor({ rate: 'fpr', value }, scores, isPositive) : undefined;
    if (whyNot !== null) unsupported.push({ targetFpr: value, whyNot });
    else if (threshold !== undefined) listed.push({ threshold, targetFpr: value });
  }
  return { listed, unsupported };
}

/** Not even without a false positive would so few samples show the share. */
function whyUnsupported(task: Task, value: number, count: number, units: number): string | null {
  const { samples, units: what } = negatives[task];
  const needed = samplesToShow(value);
  return (
    tooFew('a threshold', units, what) ??
    (count >= needed ? null : `a threshold needs at least ${needed} ${samples}; the list has ${count}`)
  );
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
