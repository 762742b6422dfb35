// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluate } from '../../src/evaluation/figures/evaluate.js';
import type { Sample } from '../../src/evaluation/figures/sample.js';

const sample = (isPositive: boolean, score: number, more: Partial<Sample> = {}): Sample => ({
  name: `${isPositive} ${score}`,
  isPositive,
  score,
  durationS: 3,
  columns: {},
  ...more,
});

const found = (samples: readonly Sample[], threshold = 0.5) =>
  evaluate(samples, [], {
    task: 'detection',
    threshold,
    groupColumns: ['reason'],
    bootstrap: { rounds: 50, seed: 1 },
  });

// 100 human clips at 0.000, 0.005, .. 0.495, and 50 generated ones at 0.30, 0.31, .. 0.79.
const even = [
  ...Array.from({ length: 100 }, (_, i) => sample(false, i / 200)),
  ...Array.from({ length: 50 }, (_, i) => sample(true, (30 + i) / 100)),
];

test('the table has the tenths, the threshold that was asked for, and those for given shares of false positives', () => {
  const { thresholds } = found(even, 0.25);
  const fixed = thresholds.filter(({ target_fpr }) => target_fpr === null);
  assert.deepEqual(
    fixed.map(({ threshold }) => threshold),
    [0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
  );
  const at = (threshold: number) => fixed.find((row) => row.threshold === threshold);
  assert.deepEqual(
    [at(0.25)?.fpr.count, at(0.25)?.fpr.of],
    [50, 100],
    'a score at the threshold is positive',
  );
  assert.deepEqual([at(0.4)?.fpr.value, at(0.4)?.fnr.value], [0.2, 0.2]);
  assert.deepEqual([at(0.9)?.fpr.value, at(0.9)?.fnr.value], [0, 1]);
  for (const { target_fpr, fpr } of thresholds) {
    if (target_fpr !== null) assert.ok(fpr.value <= target_fpr);
  }
  const tenth = thresholds.find(({ target_fpr }) => target_fpr === 0.1);
  assert.equal(tenth?.fpr.count, 10);
  const [low, high] = tenth?.fpr.interval_95_units ?? [1, 0];
  assert.ok(low < 0.1 && high > 0.1);
});

test('a share of false positives gets a threshold only from clips enough to show it', () => {
  const { thresholds, thresholds_not_given } = found(even);
  assert.deepEqual(
    thresholds.flatMap(({ target_fpr }) => target_fpr ?? []),
    [0.05, 0.1],
  );
  assert.deepEqual(
    thresholds_not_given.targets.map(({ target_fpr, why_not }) => [target_fpr, why_not]),
    [
      [0.001, 'a threshold needs at least 3838 human clips; the list has 100'],
      [0.01, 'a threshold needs at least 381 human clips; the list has 100'],
      [0.02, 'a threshold needs at least 189 human clips; the list has 100'],
    ],
  );
  const many = Array.from({ length: 400 }, (_, i) => sample(false, i / 1000));
  const { thresholds_not_given: missing } = found([...many, sample(true, 0.9)]);
  assert.deepEqual(
    missing.targets.map(({ target_fpr }) => target_fpr),
    [0.001],
  );
});

test('clips of fewer than five speakers or systems have neither intervals nor thresholds for a share', () => {
  const of = (speakers: number, systems: number) =>
    found(
      even.map((clip, i) => ({
        ...clip,
        columns: clip.isPositive ? { system: `s${i % systems}` } : { speaker: `p${i % speakers}` },
      })),
    );
  const fewSpeakers = of(4, 5);
  assert.equal(fewSpeakers.thresholds.length, 9);
  for (const { fpr, fnr } of fewSpeakers.thresholds) {
    assert.equal(fpr.interval_95_units, null);
    assert.notEqual(fnr.interval_95_units, null);
  }
  const { targets, ...intervals } = fewSpeakers.thresholds_not_given;
  assert.deepEqual(intervals, {
    fpr_intervals_why_not: 'an interval needs at least 5 speakers or sources of human clips; the list has 4',
    fnr_intervals_why_not: null,
  });
  assert.deepEqual(
    [...new Set(targets.map(({ why_not }) => why_not))],
    ['a threshold needs at least 5 speakers or sources of human clips; the list has 4'],
  );
  assert.equal(targets.length, 5);

  const fewSystems = of(5, 4);
  for (const { fpr, fnr } of fewSystems.thresholds) {
    assert.notEqual(fpr.interval_95_units, null);
    assert.equal(fnr.interval_95_units, null);
  }
  assert.equal(
    fewSystems.thresholds_not_given.fnr_intervals_why_not,
    'an interval needs at least 5 systems or sources of generated clips; the list has 4',
  );
  assert.equal(fewSystems.thresholds.at(-1)?.target_fpr, 0.1);
});

test('a list of one class has no table of thresholds', () => {
  assert.deepEqual(found(even.slice(0, 100)).thresholds, []);
  assert.deepEqual(found(even.slice(100)).thresholds, []);
  assert.deepEqual(found(even.slice(100)).thresholds_not_given, {
    targets: [],
    fpr_intervals_why_not: null,
    fnr_intervals_why_not: null,
  });
});

test('wrong verdicts come by the distance from the threshold as a share of its side, 20 of a class', () => {
  // At 0.2 a human clip at 0.6 is half-way to the end, a generated one at 0.05 three quarters.
  const { most_wrong } = found(
    [sample(false, 0.6), sample(true, 0.05), sample(false, 0.1), sample(true, 0.9)],
    0.2,
  );
  assert.deepEqual(
    most_wrong.map(({ label, score, distance }) => [label, score, distance]),
    [
      ['spoof', 0.05, 0.75],
      ['bonafide', 0.6, 0.5],
    ],
  );
  const many = found(Array.from({ length: 50 }, (_, i) => sample(false, 0.5 + i / 100))).most_wrong;
  assert.equal(many.length, 20);
  assert.equal(many[0]?.score, 0.99);
});

test('a wrong verdict says its confidence, reason, system and source as far as they are known', () => {
  const known = { confidence: 0.7, reason: 'low_snr', columns: { system: 'tts', source: '' } };
  const { most_wrong, groups } = found([
    sample(true, 0.1, known),
    sample(true, 0.2),
    sample(true, 0.9, { reason: null }),
  ]);
  const [first, second] = most_wrong;
  assert.deepEqual(
    [first?.confidence, first?.reason, first?.system, first?.source],
    [0.7, 'low_snr', 'tts', null],
  );
  assert.deepEqual([second?.confidence, second?.reason, second?.system], [null, null, null]);
  assert.deepEqual(
    groups.map(({ value, positive }) => [value, positive?.count]),
    [
      ['low_snr', 1],
      ['no reason', 1],
    ],
  );
});
