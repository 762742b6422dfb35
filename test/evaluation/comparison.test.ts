// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ComparedModel, compareModels } from '../../src/evaluation/figures/comparison.js';
import { mcnemarP } from '../../src/evaluation/figures/mcnemar.js';
import { SeededRandom } from '../../src/evaluation/figures/random.js';
import type { Sample } from '../../src/evaluation/figures/sample.js';

const other = (scores: readonly (number | undefined)[], threshold = 0.5): ComparedModel => ({
  id: 'other',
  fingerprint: 'f',
  threshold,
  scores: new Map(scores.flatMap((score, i) => (score === undefined ? [] : [[`${i}.wav`, score] as const]))),
});

/** Clips of `groups` systems and as many sources; even ones are generated. */
const clips = (scores: readonly number[], groups: number): Sample[] =>
  scores.map((score, i) => ({
    name: `${i}.wav`,
    isPositive: i % 2 === 0,
    score,
    durationS: 3,
    columns: { system: i % 2 === 0 ? `s${(i >> 1) % groups}` : '', source: `p${(i >> 1) % groups}` },
  }));

describe('McNemar', () => {
  test("the exact p-value is that of SciPy's binomial test", () => {
    // binomtest(min(b, c), b + c, 0.5).pvalue
    const known: readonly (readonly [number, number, number])[] = [
      [0, 0, 1],
      [5, 5, 1],
      [0, 6, 0.03125],
      [10, 2, 0.03857421875],
      [30, 60, 0.0020602656809630745],
      [1800, 2000, 0.0012427867782632013],
    ];
    for (const [b, c, p] of known) {
      assert.ok(Math.abs(mcnemarP(b, c) - p) < 1e-9 + 1e-7 * p, `${b} ${c}: ${mcnemarP(b, c)}`);
      assert.equal(mcnemarP(b, c), mcnemarP(c, b));
    }
  });
});

test('a model compared with itself differs in nothing', () => {
  const random = new SeededRandom(3);
  const scores = Array.from({ length: 60 }, () => random.below(1000) / 1000);
  const { eer, auc, fpr, fnr, mcnemar, why_no_intervals, compared } = compareModels(
    'detection',
    clips(scores, 6),
    0.5,
    other(scores),
  );
  assert.equal(compared, 60);
  assert.equal(why_no_intervals, null);
  for (const figure of [eer, auc, fpr, fnr]) {
    assert.equal(figure?.value, 0);
    assert.deepEqual(figure?.interval_95, [0, 0], 'both models see the same draws');
  }
  assert.deepEqual(mcnemar.all, { only_model: 0, only_other: 0, p_value: 1 });
});

test('differences are those of the other model less the evaluated one, on the rows that both have scored', () => {
  // Six systems and sources with one clip each. The evaluated model is always right; the other one misses two
  // generated clips, flags one human clip, and has no score for the last pair.
  const scores = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? 0.9 : 0.1));
  const theirs = scores.map((score, i): number | undefined => {
    if (i >= 10) return undefined;
    return i === 0 || i === 2 ? 0.2 : i === 1 ? 0.8 : score;
  });
  const found = compareModels('detection', clips(scores, 6), 0.5, other(theirs));
  assert.deepEqual([found.compared, found.left_out], [10, 2]);
  assert.deepEqual([found.fpr?.model, found.fpr?.other, found.fpr?.value], [0, 0.2, 0.2]);
  assert.deepEqual([found.fnr?.model, found.fnr?.other, found.fnr?.value], [0, 0.4, 0.4]);
  // Of 25 pairs, the human 0.8 is above 0.2 twice, and 0.1 below all: 23 are in order.
  assert.deepEqual([found.auc?.model, found.auc?.other, found.auc?.value], [1, 0.92, -0.08]);
  assert.deepEqual(found.mcnemar.all, { only_model: 0, only_other: 3, p_value: 0.25 });
  assert.deepEqual(found.mcnemar.positive, { only_model: 0, only_other: 2, p_value: 0.5 });
  assert.deepEqual(found.mcnemar.negative, { only_model: 0, only_other: 1, p_value: 1 });
  assert.ok(found.fnr?.interval_95?.[0] === 0 && found.fnr.interval_95[1] > 0.4);
});

test('each model is judged at its own threshold', () => {
  const scores = [0.6, 0.4, 0.6, 0.4];
  const found = compareModels('detection', clips(scores, 2), 0.5, other(scores, 0.3));
  assert.deepEqual([found.fpr?.model, found.fpr?.other], [0, 1]);
  assert.deepEqual([found.eer?.value, found.auc?.value], [0, 0]);
});

test('with fewer than five systems or sources there are differences, no intervals, and the reason', () => {
  const scores = [0.6, 0.4, 0.6, 0.4, 0.9, 0.2, 0.8, 0.1];
  const found = compareModels('detection', clips(scores, 4), 0.5, other(scores));
  assert.equal(
    found.why_no_intervals,
    'an interval needs at least 5 systems or sources of each class; the list has 4',
  );
  assert.equal(found.eer?.value, 0);
  assert.equal(found.eer?.interval_95, null);
});

test('without a row that both have scored there is no figure', () => {
  const found = compareModels('detection', clips([0.6, 0.4], 1), 0.5, other([]));
  assert.deepEqual([found.compared, found.eer, found.fpr], [0, null, null]);
  assert.equal(found.mcnemar.all.p_value, 1);
});
