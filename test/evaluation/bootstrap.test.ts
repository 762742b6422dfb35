// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Interval } from '../../src/base/proportion.js';
import { bootstrapIntervals } from '../../src/evaluation/figures/bootstrap.js';
import { SeededRandom } from '../../src/evaluation/figures/random.js';

const count = 400;
/** The weighted share of 1s among the values. */
const shareOf = (values: readonly number[]) => (weights: Float64Array) => ({
  share: weights.reduce((sum, weight, i) => sum + weight * (values[i] as number), 0) / values.length,
});
const singles = Array.from({ length: count }, (_, i) => `${i}`);
const fives = singles.map((_, i) => `${Math.floor(i / 5)}`);
const noPositive = singles.map(() => false);
/** A fifth are 1, in blocks of five. */
const values = singles.map((_, i) => (Math.floor(i / 5) % 5 === 0 ? 1 : 0));
const settings = { rounds: 2000, seed: 7 };

function intervalFor(units: readonly string[], seed = settings.seed): Interval {
  const { share } = bootstrapIntervals(units, noPositive, shareOf(values), { ...settings, seed });
  assert.ok(share);
  return share;
}
const widthOf = ([low, high]: Interval): number => high - low;

test('the same seed gives the same interval, another seed another one', () => {
  assert.deepEqual(intervalFor(singles), intervalFor(singles));
  assert.notDeepEqual(intervalFor(singles), intervalFor(singles, 8));
});

test('of independent samples it is that of the normal distribution', () => {
  const [low, high] = intervalFor(singles);
  const half = 1.96 * Math.sqrt((0.2 * 0.8) / count);
  assert.ok(Math.abs(low - (0.2 - half)) < 0.006, `${low}`);
  assert.ok(Math.abs(high - (0.2 + half)) < 0.006, `${high}`);
});

test('of units whose samples are all alike it is as wide as that of one sample per unit', () => {
  const ratio = widthOf(intervalFor(fives)) / widthOf(intervalFor(singles));
  assert.ok(Math.abs(ratio - Math.sqrt(5)) < 0.2, `${ratio}`);
});

test('each class keeps its number of units', () => {
  const isPositive = singles.map((_, i) => i < 3);
  const figures = (weights: Float64Array) => {
    assert.equal(
      weights.slice(0, 3).reduce((sum, weight) => sum + weight, 0),
      3,
    );
    assert.equal(
      weights.reduce((sum, weight) => sum + weight, 0),
      count,
    );
    return { constant: 1 };
  };
  const { constant } = bootstrapIntervals(singles, isPositive, figures, { rounds: 50, seed: 1 });
  assert.deepEqual(constant, [1, 1]);
});

test('rounds in which a figure is undefined are left out, and with it the figure where all are', () => {
  let round = 0;
  const figures = () => ({ never: undefined, sometimes: round++ % 2 === 0 ? 0.25 : undefined });
  const intervals = bootstrapIntervals(singles, noPositive, figures, { rounds: 10, seed: 1 });
  assert.deepEqual(intervals, { sometimes: [0.25, 0.25] });
});

test('random numbers are spread evenly, and neighbouring seeds have nothing in common', () => {
  const draws = 60_000;
  const counts = [1, 2].map((seed) => {
    const random = new SeededRandom(seed);
    const seen = new Array<number>(6).fill(0);
    for (let i = 0; i < draws; i++) {
      const drawn = random.below(6);
      seen[drawn] = (seen[drawn] as number) + 1;
    }
    return seen;
  });
  for (const seen of counts) {
    const expected = draws / 6;
    const chiSquare = seen.reduce((sum, value) => sum + (value - expected) ** 2 / expected, 0);
    // 99.99 % of fair dice stay below, with five degrees of freedom.
    assert.ok(chiSquare < 25.7, `${chiSquare}`);
  }
  assert.notDeepEqual(counts[0], counts[1]);
});
