// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeededRandom } from '../../src/evaluation/figures/random.js';
import { thresholdFor } from '../../src/evaluation/figures/threshold-search.js';

function errorsAt(threshold: number, scores: readonly number[], isPositive: readonly boolean[]) {
  const count = (positives: boolean): number =>
    scores.filter((score, i) => isPositive[i] === positives && score >= threshold !== positives).length;
  return { fpr: count(false), fnr: count(true) };
}

test('a class without samples has no threshold', () => {
  assert.throws(() => thresholdFor({ rate: 'fpr', value: 0.1 }, [0.5], [true]), /no sample/);
  assert.throws(() => thresholdFor({ rate: 'fnr', value: 0.1 }, [0.5], [false]), /no sample/);
});

test('a target that only a threshold above 1 would reach has none', () => {
  const scores = [1, 1, 0.2];
  assert.equal(thresholdFor({ rate: 'fpr', value: 0.5 }, scores, [false, false, false]), undefined);
  assert.notEqual(thresholdFor({ rate: 'fpr', value: 0.67 }, scores, [false, false, false]), undefined);
});

test('no threshold of a fine grid keeps to the target with fewer errors of the other kind', () => {
  const random = new SeededRandom(3);
  for (let round = 0; round < 60; round++) {
    const count = 2 + random.below(40);
    // Few distinct scores in every second round, for ties.
    const steps = round % 2 === 0 ? 12 : 10_000;
    const isPositive = Array.from({ length: count }, (_, i) => (i < 2 ? i === 0 : random.below(2) === 0));
    const scores = isPositive.map(() => random.below(steps) / steps);
    for (const rate of ['fpr', 'fnr'] as const) {
      const value = random.below(60) / 100;
      const other = rate === 'fpr' ? 'fnr' : 'fpr';
      const concerned = isPositive.filter((positive) => positive === (rate === 'fnr')).length;
      const threshold = thresholdFor({ rate, value }, scores, isPositive);
      assert.ok(threshold !== undefined && threshold >= 0 && threshold <= 1, `${threshold}`);
      const found = errorsAt(threshold, scores, isPositive);
      assert.ok(found[rate] <= value * concerned + 1e-9, `${found[rate]} of ${concerned} at ${value}`);
      for (let k = 0; k <= 2000; k++) {
        const tried = errorsAt(k / 2000, scores, isPositive);
        if (tried[rate] <= value * concerned + 1e-9) assert.ok(tried[other] >= found[other]);
      }
    }
  }
});

test('it lies in the middle between the scores next to it, and above the lower where they are neighbours', () => {
  const isPositive = [false, false, true, true];
  assert.equal(thresholdFor({ rate: 'fpr', value: 0 }, [0.1, 0.3, 0.7, 0.9], isPositive), 0.5);
  assert.equal(thresholdFor({ rate: 'fnr', value: 0 }, [0.1, 0.3, 0.7, 0.9], isPositive), 0.5);
  const neighbours = [0.1, 0.3, 0.300001, 0.9];
  assert.equal(thresholdFor({ rate: 'fpr', value: 0 }, neighbours, isPositive), 0.300001);
  assert.equal(thresholdFor({ rate: 'fnr', value: 0 }, neighbours, isPositive), 0.300001);
});

test('a share that rounding would make smaller costs no sample', () => {
  const scores = Array.from({ length: 100 }, (_, i) => i / 100);
  const isPositive = scores.map(() => false);
  const threshold = thresholdFor({ rate: 'fpr', value: 0.29 }, scores, isPositive);
  assert.ok(threshold !== undefined);
  assert.equal(errorsAt(threshold, scores, isPositive).fpr, 29);
});
