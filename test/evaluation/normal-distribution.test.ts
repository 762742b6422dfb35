// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exceededBy, shareAbove } from '../../src/analysis/voiceid/normal-distribution.js';

/** scipy.stats.norm.sf */
const known: readonly [x: number, share: number][] = [
  [-2, 0.9772498680518208],
  [0, 0.5],
  [0.5, 0.3085375387259869],
  [1.6448536269514729, 0.05],
  [2.5, 0.006209665325776132],
  [3, 0.0013498980316300933],
  [5, 2.866515718791933e-7],
  [10, 7.61985302416047e-24],
];

test('the share above a number is that of SciPy', () => {
  for (const [x, share] of known) {
    assert.ok(Math.abs(shareAbove(x) / share - 1) < 1e-9, `${x}: ${shareAbove(x)}`);
  }
});

test('the inverse gives the number back, also far out', () => {
  for (const [x, share] of known) assert.ok(Math.abs(exceededBy(share) - x) < 1e-8, `${x}`);
});
