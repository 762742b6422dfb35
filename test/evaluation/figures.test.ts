// SPDX-License-Identifier: Apache-2.0
//
// Against scikit-learn and SciPy: test/reference/evaluation.py.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { samplesToShow, wilsonInterval } from '../../src/base/proportion.js';
import {
  areaUnderCurve,
  asvspoof5Cost,
  equalErrorPoint,
  minDetectionCost,
  nistCosts,
} from '../../src/evaluation/figures/figures.js';
import { probabilityQuality } from '../../src/evaluation/figures/probability-quality.js';
import { probit } from '../../src/evaluation/figures/probit.js';
import { type ErrorRates, RankedScores } from '../../src/evaluation/figures/ranked-scores.js';

interface ReferenceCase {
  readonly name: string;
  readonly positive: readonly boolean[];
  readonly scores: readonly number[];
  readonly weights: readonly number[] | null;
  readonly auc: number;
  readonly eer: number;
  readonly costs: readonly (readonly [falsePositive: number, falseNegative: number, lowest: number])[];
  readonly brier: number;
  readonly log_loss: number;
  readonly calibration_error: number;
}

const reference = JSON.parse(
  readFileSync(path.join(packageDir, 'test/reference/evaluation.json'), 'utf8'),
) as {
  readonly cases: readonly ReferenceCase[];
  readonly wilson: readonly (readonly [successes: number, samples: number, low: number, high: number])[];
  readonly probit: readonly (readonly [probability: number, quantile: number])[];
};

function near(actual: number, expected: number, tolerance: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: expected ${expected} but got ${actual}`);
}

function ratesOf({ scores, positive, weights }: Pick<ReferenceCase, 'scores' | 'positive' | 'weights'>) {
  const rates = new RankedScores(scores, positive).errorRates(weights ?? undefined);
  assert.ok(rates);
  return rates;
}

test('a score that is no number is refused, and a class without weight has no error rate', () => {
  assert.throws(() => new RankedScores([0.1, Number.NaN], [true, false]), /sample 1 is not finite/);
  const ranked = new RankedScores([0.1, 0.9], [false, true]);
  assert.equal(ranked.errorRates([1, 0]), undefined);
  assert.equal(new RankedScores([0.1, 0.9], [true, true]).errorRates(), undefined);
  assert.throws(() => probabilityQuality([1.2], [true]), /from 0 to 1 but received 1\.2/);
});

describe('figures agree with scikit-learn', () => {
  for (const expected of reference.cases) {
    test(expected.name, () => {
      const rates = ratesOf(expected);
      near(areaUnderCurve(rates), expected.auc, 1e-9, 'AUC');
      near(equalErrorPoint(rates).rate, expected.eer, 1e-9, 'EER');
      for (const [falsePositive, falseNegative, lowest] of expected.costs) {
        near(minDetectionCost(rates, { falsePositive, falseNegative }), lowest, 1e-9, 'minDCF');
      }
      const quality = probabilityQuality(expected.scores, expected.positive);
      near(quality.brier, expected.brier, 1e-9, 'Brier score');
      near(quality.logLoss, expected.log_loss, 1e-9, 'log loss');
      near(quality.expectedCalibrationError, expected.calibration_error, 1e-9, 'calibration error');
      assert.equal(
        quality.bins.reduce((sum, { count }) => sum + count, 0),
        expected.scores.length,
      );
    });
  }
});

test('a weight counts like as many copies of a sample', () => {
  const scores = [0.1, 0.4, 0.35, 0.8, 0.6];
  const positive = [false, false, true, true, false];
  const weights = [1, 3, 2, 1, 0];
  const copies = weights.flatMap((weight, i) => new Array<number>(weight).fill(i));
  const weighted = ratesOf({ scores, positive, weights });
  const copied = ratesOf({
    scores: copies.map((i) => scores[i] as number),
    positive: copies.map((i) => positive[i] as boolean),
    weights: null,
  });
  near(areaUnderCurve(weighted), areaUnderCurve(copied), 1e-12, 'AUC');
  near(equalErrorPoint(weighted).rate, equalErrorPoint(copied).rate, 1e-12, 'EER');
});

test('figures of some members are those of a list of only them', () => {
  const scores = [0.1, 0.9, 0.4, 0.35, 0.8];
  const positive = [false, false, true, true, true];
  const some = new RankedScores(scores, positive, [0, 1, 3]).errorRates() as ErrorRates;
  const only = new RankedScores([0.1, 0.9, 0.35], [false, false, true]).errorRates() as ErrorRates;
  assert.deepEqual(some, only);
});

test('the threshold of the equal error rate gives nearly equal errors', () => {
  const [first] = reference.cases;
  assert.ok(first);
  const { rate, threshold } = equalErrorPoint(ratesOf(first));
  const share = (positives: boolean, wrong: (score: number) => boolean): number => {
    const own = first.scores.filter((_, i) => first.positive[i] === positives);
    return own.filter(wrong).length / own.length;
  };
  const step = 1 / first.positive.filter(Boolean).length;
  near(
    share(false, (score) => score >= threshold),
    rate,
    step,
    'false positives',
  );
  near(
    share(true, (score) => score < threshold),
    rate,
    step,
    'false negatives',
  );
});

test('detection costs are those of the benchmarks', () => {
  // Always answering "human" lets every spoof pass, which in ASVspoof 5 is the cheaper of the two constant
  // answers.
  assert.deepEqual(asvspoof5Cost.costs, { falsePositive: 0.95, falseNegative: 0.5 });
  assert.deepEqual(
    nistCosts.map(({ costs }) => costs),
    [
      { falsePositive: 0.99, falseNegative: 0.01 },
      { falsePositive: 0.95, falseNegative: 0.05 },
    ],
  );
});

test('Wilson intervals agree with SciPy', () => {
  for (const [successes, samples, low, high] of reference.wilson) {
    const interval = wilsonInterval(successes, samples);
    near(interval[0], low, 1e-9, `lower bound of ${successes} of ${samples}`);
    near(interval[1], high, 1e-9, `upper bound of ${successes} of ${samples}`);
  }
  assert.deepEqual(wilsonInterval(0, 0), [0, 1]);
});

test('as many samples as are needed to show a rate show it, and one less does not', () => {
  for (const rate of [0.3, 0.05, 0.01, 0.001]) {
    const needed = samplesToShow(rate);
    assert.ok(wilsonInterval(0, needed)[1] <= rate);
    assert.ok(wilsonInterval(0, needed - 1)[1] > rate);
  }
});

test('probit agrees with SciPy to what a plot needs', () => {
  for (const [probability, quantile] of reference.probit)
    near(probit(probability), quantile, 4.5e-4, 'probit');
});
