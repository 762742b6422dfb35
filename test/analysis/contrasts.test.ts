// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { findContrasts } from '../../src/analysis/stretches/contrasts.js';

type LogOdds = readonly (readonly [startS: number, logOdds: number])[];

interface Case {
  readonly windows: LogOdds;
  readonly closer: LogOdds;
  readonly stretches: readonly { start: number; end: number; score: number; strength: number }[];
}

const scoredFrom = (all: LogOdds, lengthS: number) =>
  all.map(([startS, logOdds]) => ({
    startS,
    endS: startS + lengthS,
    scores: [1 / (1 + Math.exp(-logOdds))],
  }));

const found = (windows: LogOdds, closer: LogOdds) =>
  findContrasts({ windows: scoredFrom(windows, 5), closerWindows: scoredFrom(closer, 2.5) });

/** From `from` to `to` in steps, with one value where `isHigh`, and another elsewhere. */
const steps = (to: number, stepS: number, logOddsAt: (startS: number) => number): LogOdds =>
  Array.from({ length: Math.floor(to / stepS) }, (_, i) => [i * stepS, logOddsAt(i * stepS)] as const);

test('random recordings have the stretches that NumPy finds', () => {
  // test/reference/stretches.py
  const cases: Case[] = JSON.parse(fs.readFileSync('test/reference/stretches.json', 'utf8'));
  assert.ok(cases.some(({ stretches }) => stretches.length === 0));
  assert.ok(cases.filter(({ stretches }) => stretches.length > 0).length >= 20);
  for (const [i, { windows, closer, stretches }] of cases.entries()) {
    const contrasts = found(windows, closer);
    const times = contrasts.map(({ startS, endS }) => [startS, endS]);
    assert.deepEqual(
      times,
      stretches.map(({ start, end }) => [start, end]),
      `case ${i}`,
    );
    for (const [j, { score, strength }] of contrasts.entries()) {
      assert.ok(Math.abs(score - (stretches[j]?.score ?? Number.NaN)) < 1e-9, `case ${i}`);
      assert.ok(Math.abs(strength - (stretches[j]?.strength ?? Number.NaN)) < 1e-9, `case ${i}`);
    }
  }
});

test('a voice that always sounds the same has no stretches, whatever its level', () => {
  for (const level of [-6, -2.5, 0, 3, 8]) {
    const windows = steps(180, 5, () => level);
    assert.deepEqual(
      found(
        windows,
        steps(177, 1, () => level),
      ),
      [],
      `level ${level}`,
    );
  }
});

test('a recording that is generated from start to end has no contrasts, however short or long', () => {
  for (const lengthS of [5, 10, 15, 20, 30, 60, 180, 3600]) {
    for (const wobble of [0, 0.5, 1]) {
      const logOdds = (startS: number) => 3.5 + wobble * Math.sin(startS);
      const closer = steps(Math.min(60, lengthS - 2), 1, logOdds);
      assert.deepEqual(found(steps(lengthS, 5, logOdds), closer), [], `${lengthS} s, ${wobble}`);
    }
  }
});

test('a generated half of a short recording stands out from the other half', () => {
  const logOdds = (startS: number) => (startS >= 5 ? 3.5 : -3.5);
  const [contrast, ...others] = found(steps(10, 5, logOdds), steps(8, 1, logOdds));
  assert.deepEqual(others, []);
  assert.ok(Math.abs((contrast?.startS ?? 0) - 5) <= 1);
});

test('one generated sentence in three minutes is found to half a second', () => {
  const share = (startS: number, lengthS: number) =>
    Math.max(0, Math.min(startS + lengthS, 95.5) - Math.max(startS, 90.5)) / lengthS;
  const windows = steps(180, 5, (startS) => -3 + 6 * share(startS, 5));
  const closer = steps(177, 1, (startS) => -3 + 6 * share(startS, 2.5)).filter(
    ([startS]) => startS > 80 && startS < 105,
  );
  const [contrast, ...others] = found(windows, closer);
  assert.deepEqual(others, []);
  assert.ok(Math.abs((contrast?.startS ?? 0) - 90.5) <= 0.5);
  assert.ok(Math.abs((contrast?.endS ?? 0) - 95.5) <= 0.5);
  assert.ok((contrast?.score ?? 0) > 0.9);
});

test('the same sentence is found in an hour, as far as the contrast goes', () => {
  const at = (startS: number) => (startS === 90 || startS === 1800 ? 3 : -3);
  const closer = steps(3597, 1, (startS) =>
    Math.abs(startS - 91) < 2 || Math.abs(startS - 1801) < 2 ? 3 : -3,
  ).filter(([startS]) => Math.abs(startS - 92) < 8 || Math.abs(startS - 1802) < 8);
  assert.equal(found(steps(3600, 5, at), closer).length, 2);
});

test('generated parts of half a recording are found, though they are no exception in it', () => {
  const isGenerated = (startS: number) => startS % 120 >= 60 && startS % 120 < 110;
  const windows = steps(600, 5, (startS) => (isGenerated(startS) ? 3 : -3));
  // The second look's windows are few: those at the beginning.
  const closer = steps(75, 1, (startS) => (isGenerated(startS) ? 3 : -3)).filter(([startS]) => startS > 56);
  const contrasts = found(windows, closer);
  assert.equal(contrasts.length, 5);
  for (const [i, { startS, endS }] of contrasts.entries()) {
    assert.ok(Math.abs(startS - (60 + 120 * i)) <= 5, `${startS}`);
    assert.ok(Math.abs(endS - (110 + 120 * i)) <= 5, `${endS}`);
  }
});

test('a stretch ends with the recording, and its strength is that against the rest', () => {
  const logOdds = (startS: number) => (startS >= 40 ? 3 : -3);
  const [contrast, ...others] = found(steps(57, 5, logOdds), steps(54, 1, logOdds));
  assert.deepEqual(others, []);
  assert.ok((contrast?.endS ?? 99) <= 57);
  assert.ok((contrast?.strength ?? 0) > 4);
});

const dayS = 24 * 3600;
const inTurns = (startS: number) => (Math.floor(startS / 5) % 2 === 0 ? 3 : -5);
const inThirds = (startS: number) => (Math.floor(startS / 20) % 3 === 0 ? 3 : -3) + Math.sin(startS);
const days: Record<string, readonly [windows: LogOdds, closer: LogOdds]> = {
  'seen closer throughout': [steps(dayS, 5, inThirds), steps(dayS - 3, 4, inThirds)],
  'of two voices in turns': [steps(dayS, 5, inTurns), steps(40, 4, inTurns)],
};

for (const [name, [windows, closer]] of Object.entries(days)) {
  test(`stretches of a day ${name} are found at once, since a request must not hold up the others`, () => {
    const began = process.cpuUsage();
    assert.ok(found(windows, closer).length > 1000);
    // A few tenths of a second; before, 6 s and more. Of this process alone: others may keep the machine busy.
    const { user } = process.cpuUsage(began);
    assert.ok(user < 3e6, `${user} µs`);
  });
}

test('without a second look there are no stretches', () => {
  assert.deepEqual(
    found(
      steps(60, 5, (startS) => (startS === 30 ? 8 : -8)),
      [],
    ),
    [],
  );
});
