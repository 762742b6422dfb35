// SPDX-License-Identifier: Apache-2.0
//
// The population stability index against NumPy: test/reference/score_drift.py.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { binOf, emptyHistogram, SCORE_BINS } from '../../src/console/drift/score-bins.js';
import {
  MIN_CURRENT_FILES,
  REFERENCE_FILES,
  readingOf,
  stabilityIndex,
} from '../../src/console/drift/stability-index.js';

function histogramOf(scores: readonly number[]): number[] {
  const histogram = emptyHistogram();
  for (const score of scores) {
    const bin = binOf(score);
    histogram[bin] = (histogram[bin] ?? 0) + 1;
  }
  return histogram;
}

/** Logits with a logistic distribution; the same every time. */
const scoresAround = (centre: number, width: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => {
    const share = (i + 0.5) / count;
    return 1 / (1 + Math.exp(-(centre + width * Math.log(share / (1 - share)))));
  });

const pairs: readonly (readonly [reference: readonly number[], current: readonly number[]])[] = [
  [scoresAround(-4, 1, 500), scoresAround(-4, 1, 300)],
  [scoresAround(-4, 1, 500), scoresAround(-3.4, 1, 300)],
  [scoresAround(-4, 1, 500), scoresAround(2, 2, 301)],
  // Some bins are empty on one side, most on both.
  [scoresAround(-6, 0.1, 700), scoresAround(6, 0.1, 300)],
  // The ends of the scale.
  [
    [0, 0, 1, 0.5],
    [0, 1, 1, 1, 0.5],
  ],
  [[0.2], [0.2]],
];

test('the index is that of NumPy, and chance alone hardly ever looks like a change', () => {
  const input = JSON.stringify({
    pairs,
    reference_files: REFERENCE_FILES,
    current_files: MIN_CURRENT_FILES,
  });
  const script = path.join(packageDir, 'test/reference/score_drift.py');
  const output = execFileSync('/usr/bin/python3', [script], { input, encoding: 'utf8' });
  const { indices, above } = JSON.parse(output) as { readonly indices: number[]; readonly above: number };
  for (const [i, [reference, current]] of pairs.entries()) {
    const index = stabilityIndex(histogramOf(reference), histogramOf(current)) ?? Number.NaN;
    assert.ok(Math.abs(index - (indices[i] as number)) < 1e-9, `pair ${i}: ${index}, NumPy ${indices[i]}`);
  }
  assert.ok(above < 0.03, `${above} of equal distributions`);
  const [same = 1, shifted = 0, other = 0] = indices;
  assert.deepEqual([same, shifted, other].map(readingOf), ['stable', 'moderate', 'large']);
});

test('without scores on one side there is no index', () => {
  assert.equal(stabilityIndex(emptyHistogram(), histogramOf([0.3])), undefined);
  assert.equal(stabilityIndex(histogramOf([0.3]), emptyHistogram()), undefined);
});

test('every score has a bin, and an edge belongs to the bin above it', () => {
  assert.equal(binOf(0), 0);
  assert.equal(binOf(1), SCORE_BINS - 1);
  assert.equal(binOf(0.5), SCORE_BINS / 2);
  assert.equal(binOf(0.4999999), SCORE_BINS / 2 - 1);
  assert.equal(binOf(Number.MIN_VALUE), 0);
});

test('readings begin at 0.1 and 0.25', () => {
  assert.deepEqual([0, 0.0999, 0.1, 0.2499, 0.25, 9].map(readingOf), [
    'stable',
    'stable',
    'moderate',
    'moderate',
    'large',
    'large',
  ]);
});
