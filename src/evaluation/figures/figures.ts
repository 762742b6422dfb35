// SPDX-License-Identifier: Apache-2.0
import type { ErrorRates } from './ranked-scores.js';

export interface EqualErrorPoint {
  /** 0..1 */
  readonly rate: number;
  /** The lowest threshold at which no more negatives than positives are judged wrongly; infinity if no score is. */
  readonly threshold: number;
}

/** The crossing of false-positive and false-negative rate, on the straight line between neighbouring thresholds. */
export function equalErrorPoint({ thresholds, falsePositive, falseNegative }: ErrorRates): EqualErrorPoint {
  // At the first threshold the rates are 1 and 0, at the last 0 and 1.
  const after = falseNegative.findIndex((rate, k) => rate >= (falsePositive[k] as number));
  const gap = (k: number): number => (falsePositive[k] as number) - (falseNegative[k] as number);
  const share = gap(after - 1) / (gap(after - 1) - gap(after));
  const from = falseNegative[after - 1] as number;
  return {
    rate: from + share * ((falseNegative[after] as number) - from),
    threshold: thresholds[after] as number,
  };
}

/** Area under the receiver operating characteristic, 0..1: how often a positive has the higher score of a pair. */
export function areaUnderCurve({ falsePositive, falseNegative }: ErrorRates): number {
  let area = 0;
  for (let k = 1; k < falsePositive.length; k++) {
    const width = (falsePositive[k - 1] as number) - (falsePositive[k] as number);
    area += width * (1 - ((falseNegative[k - 1] as number) + (falseNegative[k] as number)) / 2);
  }
  return area;
}

/** The costs of the two kinds of error: the prior of the class times the cost of judging it wrongly. */
export interface ErrorCosts {
  readonly falsePositive: number;
  readonly falseNegative: number;
}

/**
 * The lowest cost over all thresholds, as a share of the lower cost of always yes and always no: 0..1. A. Martin and M.
 * Przybocki, "The NIST 1999 Speaker Recognition Evaluation: An Overview", 2000, normalised as in the evaluations since then.
 */
export function minDetectionCost(rates: ErrorRates, costs: ErrorCosts): number {
  let lowest = Number.POSITIVE_INFINITY;
  for (let k = 0; k < rates.thresholds.length; k++) {
    const cost =
      costs.falsePositive * (rates.falsePositive[k] as number) +
      costs.falseNegative * (rates.falseNegative[k] as number);
    if (cost < lowest) lowest = cost;
  }
  return lowest / Math.min(costs.falsePositive, costs.falseNegative);
}

/** A setting of the detection cost that a benchmark has fixed. */
export interface CostSetting {
  readonly name: string;
  readonly cMiss: number;
  readonly cFalseAlarm: number;
  /** Prior of the class that is looked for: of spoofs, or of the right speaker. */
  readonly prior: number;
  readonly costs: ErrorCosts;
}

/**
 * ASVspoof 5, track 1 (X. Wang et al., "ASVspoof 5: Crowdsourced Speech Data, Deepfakes, and Adversarial Attacks at
 * Scale", 2024). There a miss is a human voice that is refused, and a false alarm a spoof that passes: with spoofs as
 * positives the former is our false positive and the latter our false negative.
 */
export const asvspoof5Cost: CostSetting = {
  name: 'ASVspoof 5',
  cMiss: 1,
  cFalseAlarm: 10,
  prior: 0.05,
  costs: { falsePositive: 1 * (1 - 0.05), falseNegative: 10 * 0.05 },
};

/** NIST's speaker recognition evaluations: both errors cost 1, the right speaker is rare (0.01 and 0.05 since 2018). */
const nistCost = (targetPrior: number): CostSetting => ({
  name: `NIST SRE, p_target ${targetPrior}`,
  cMiss: 1,
  cFalseAlarm: 1,
  prior: targetPrior,
  costs: { falsePositive: 1 - targetPrior, falseNegative: targetPrior },
});

export const nistCosts: readonly CostSetting[] = [nistCost(0.01), nistCost(0.05)];
