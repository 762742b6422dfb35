// SPDX-License-Identifier: Apache-2.0
import { type Interval, wilsonInterval } from '../../base/proportion.js';

/** Samples whose scores lie in one tenth of the scale. */
export interface ReliabilityBin {
  /** 0..1; a score on a border belongs to the upper bin, 1 to the last. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly meanScore: number;
  /** Share of the samples that are positive, with its Wilson interval. */
  readonly positiveShare: number;
  readonly interval: Interval;
}

/** The fit of scores as probabilities of being positive, with the two classes as frequent as in the list. */
export interface ProbabilityQuality {
  /** Bins with at least one sample. */
  readonly bins: readonly ReliabilityBin[];
  /** Mean distance of a bin's mean score from its share of positives, weighted by its samples. */
  readonly expectedCalibrationError: number;
  /** Mean squared distance of the score from 1 for a positive and from 0 for a negative. */
  readonly brier: number;
  /** Mean of -ln of the probability given to the sample's true class. */
  readonly logLoss: number;
}

const RELIABILITY_BINS = 10;
/** Scores have six decimals: a probability of 0 or 1 says no more than that it is nearer than this. */
const SMALLEST_PROBABILITY = 1e-6;

interface Sums {
  count: number;
  score: number;
  positive: number;
}

/** @param scores 0..1, at least one */
export function probabilityQuality(
  scores: readonly number[],
  isPositive: readonly boolean[],
): ProbabilityQuality {
  const sums = Array.from({ length: RELIABILITY_BINS }, (): Sums => ({ count: 0, score: 0, positive: 0 }));
  let squares = 0;
  let logs = 0;
  scores.forEach((score, i) => {
    if (!(score >= 0 && score <= 1)) {
      throw new RangeError(`Expected a score from 0 to 1 but received ${score}.`);
    }
    const bin = sums[Math.min(RELIABILITY_BINS - 1, Math.floor(score * RELIABILITY_BINS))] as Sums;
    const truth = isPositive[i] ? 1 : 0;
    bin.count++;
    bin.score += score;
    bin.positive += truth;
    squares += (score - truth) ** 2;
    const given = truth === 1 ? score : 1 - score;
    logs -= Math.log(Math.min(1 - SMALLEST_PROBABILITY, Math.max(SMALLEST_PROBABILITY, given)));
  });
  const bins = sums.flatMap(({ count, score, positive }, i) =>
    count === 0
      ? []
      : [
          {
            from: i / RELIABILITY_BINS,
            to: (i + 1) / RELIABILITY_BINS,
            count,
            meanScore: score / count,
            positiveShare: positive / count,
            interval: wilsonInterval(positive, count),
          },
        ],
  );
  const distances = bins.map(
    ({ count, meanScore, positiveShare }) => count * Math.abs(meanScore - positiveShare),
  );
  return {
    bins,
    expectedCalibrationError: distances.reduce((sum, distance) => sum + distance, 0) / scores.length,
    brier: squares / scores.length,
    logLoss: logs / scores.length,
  };
}
