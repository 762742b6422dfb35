// SPDX-License-Identifier: Apache-2.0
//
// Without errors, nothing is certain yet: intervals on few samples are wide.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareModels } from '../../src/evaluation/figures/comparison.js';
import { evaluate } from '../../src/evaluation/figures/evaluate.js';
import type { Sample } from '../../src/evaluation/figures/sample.js';

/** Clips told apart without an error, each by its own speaker or system. */
const samplesOf = (count: number): Sample[] =>
  Array.from({ length: count }, (_, i) => [
    {
      ...{ name: `human-${i}`, isPositive: false, score: 0.1 + i / 1000, durationS: 5 },
      columns: { speaker: `p${i}`, source: 'a' },
    },
    {
      ...{ name: `spoof-${i}`, isPositive: true, score: 0.9 + i / 1000, durationS: 5 },
      columns: { system: `s${i}`, source: 'b' },
    },
  ]).flat();

const options = { task: 'detection', threshold: 0.5, groupColumns: [] } as const;

test('0 of 16 clips is not 0 for certain, and neither is any other figure', () => {
  const { overall, at_threshold, thresholds } = evaluate(samplesOf(16), [], options);
  // As in a table of Wilson intervals.
  assert.deepEqual(at_threshold.fpr?.interval_95_units, [0, 0.193608]);
  assert.deepEqual(at_threshold.fnr?.interval_95_units, [0, 0.193608]);
  assert.deepEqual(overall.eer?.interval_95, [0, 0.193608]);
  assert.deepEqual(overall.auc?.interval_95, [0.806392, 1]);
  assert.equal(overall.min_dcf?.[0]?.value, 0);
  assert.equal(overall.min_dcf?.[0]?.interval_95[1], 0.561462);
  for (const { threshold, fpr, fnr } of thresholds) {
    for (const share of [fpr, fnr]) {
      const [low, high] = share.interval_95_units ?? assert.fail();
      assert.ok(high - low > 0.1, `${threshold}: ${low} to ${high}`);
      assert.ok(low <= share.value && share.value <= high);
    }
  }
});

test('more clips of the same few speakers make nothing more certain', () => {
  const few = samplesOf(16).map((sample, i) => ({
    ...sample,
    columns: { ...sample.columns, speaker: `p${i % 4}`, system: `s${i % 4}` },
  }));
  const { at_threshold } = evaluate(few, [], options);
  const high = at_threshold.fpr?.interval_95_units[1] ?? 0;
  assert.ok(high > 0.4, `${high}`);
});

test('two models without an error may still differ', () => {
  const samples = samplesOf(16);
  const scores = new Map(samples.map(({ name, score }) => [name, score < 0.5 ? score / 2 : (1 + score) / 2]));
  const other = { id: 'other', fingerprint: 'f', threshold: 0.5, scores };
  const alone = samples.map((sample) => ({ ...sample, columns: { source: sample.name } }));
  const { fpr } = compareModels('detection', alone, 0.5, other);
  assert.equal(fpr?.value, 0);
  assert.deepEqual(fpr?.interval_95, [-0.193608, 0.193608]);
});
