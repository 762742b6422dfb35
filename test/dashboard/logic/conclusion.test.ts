// SPDX-License-Identifier: Apache-2.0
//
// The dashboard's wording of a verdict: it never hides evidence against it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamResult } from '../../../client/src/index.js';
import { conclusionOf, disagreementOf, oddStretchesIn } from '../../../dashboard/src/logic/conclusion.js';
import {
  alarmsIn,
  type LiveFacts,
  nothingYet,
  verdictLately,
  verdictSoFar,
  withEvent,
} from '../../../dashboard/src/logic/live.js';
import type { Result } from '../../../dashboard/src/logic/windows.js';
import { reasons } from '../../../src/analysis/verdict/reasons.js';

/** Windows of 5 s with these scores. */
const windowsOf = (...scores: readonly number[]) =>
  scores.map((score, i) => ({
    ...{ startS: 5 * i, endS: 5 * i + 5, score },
    result: (score >= 0.5 ? 'spoofed' : 'bonafide') as Result,
  }));

const human = windowsOf(0.1, 0.2, 0.1);

test('a verdict with any reason for caution is amber, whichever it is', () => {
  for (const result of ['bonafide', 'spoofed'] as const) {
    for (const reason of [...Object.keys(reasons), 'one of later', undefined]) {
      const windows = human.map((window) => ({ ...window, result }));
      assert.equal(conclusionOf({ result, reason, windows }).look, 'uncertain', `${result} ${reason}`);
    }
  }
  assert.deepEqual(conclusionOf({ result: 'bonafide', reason: null, windows: human }), {
    ...{ result: 'bonafide', look: 'bonafide', word: 'Human', rest: 'voice', oddStretches: [] },
  });
  // Even if nobody has said it yet, as in a stream.
  const windows = windowsOf(0.1, 0.9, 0.1);
  assert.equal(conclusionOf({ result: 'bonafide', reason: null, windows }).look, 'uncertain');
});

test('a mixed verdict says how much, and where it is clearest', () => {
  const windows = windowsOf(0.1, 0.7, 0.93, 0.1, 0.2, 0.6, 0.1);
  const conclusion = conclusionOf({ result: 'bonafide', reason: 'mixed_content', windows });
  assert.equal(conclusion.word, 'Mixed');
  assert.equal(conclusion.rest, 'human, but 15 s look AI-generated in 2 places, the clearest at 0:05');
  assert.deepEqual(
    conclusion.oddStretches.map(({ startS, endS, score, strongest }) => [
      startS,
      endS,
      score,
      strongest.startS,
    ]),
    [
      [5, 15, 0.93, 10],
      [25, 30, 0.6, 25],
    ],
  );
  const other = conclusionOf({ result: 'spoofed', reason: 'uncertain', windows: windowsOf(0.9, 0.05, 0.9) });
  assert.equal(other.rest, 'rather AI-generated than not, but 5 s look human at 0:05');
});

test('stretches of the answer take the place of windows that contradict each other', () => {
  const windows = windowsOf(0.1, 0.7, 0.1, 0.1, 0.1);
  const judged = { result: 'bonafide', windows } as const;
  assert.equal(conclusionOf({ ...judged, reason: null, stretches: [] }).word, 'Human');
  const stretches = [
    { start: 12.5, end: 14, score: 0.8, strength: 3 },
    { start: 21, end: 23.5, score: 0.9, strength: 4 },
  ];
  const mixed = conclusionOf({ ...judged, reason: 'mixed_content', stretches });
  assert.equal(mixed.rest, 'human, but 4 s look AI-generated in 2 places, the clearest at 0:21');
  // The whole recording contradicts nothing.
  const whole = [{ start: 0, end: 25, score: 0.9, strength: null }];
  const generated = { result: 'spoofed', windows: windowsOf(0.9, 0.4, 0.9), reason: null } as const;
  assert.equal(conclusionOf({ ...generated, stretches: whole }).look, 'spoofed');
});

test('windows with a pause or an agreeing window between them are two stretches', () => {
  const [first, , third] = windowsOf(0.9, 0.1, 0.9);
  assert.ok(first && third);
  assert.equal(oddStretchesIn([first, third], 'bonafide').length, 2);
  assert.equal(oddStretchesIn(windowsOf(0.9, 0.1, 0.9), 'bonafide').length, 2);
  // The last window of a file may slide back over the one before.
  const slid = { ...third, startS: 3, endS: 8 };
  assert.deepEqual(oddStretchesIn([first, slid], 'bonafide')[0]?.endS, 8);
});

test('channels that do not agree are named, each with its result', () => {
  const of = (channel: number, score: number, reason: string | null = null) => {
    const windows = windowsOf(score);
    const result: Result = windows[0]?.result ?? 'bonafide';
    return { channel, conclusion: conclusionOf({ result, reason, windows }) };
  };
  const caution = 'band_limited';
  assert.equal(disagreementOf([of(0, 0.1), of(1, 0.2)]), undefined);
  assert.equal(disagreementOf([of(0, 0.1, caution), of(1, 0.2, caution)]), undefined);
  assert.equal(
    disagreementOf([of(0, 0.1), of(1, 0.9)]),
    'The channels disagree: channel 0 is human; channel 1 is AI-generated.',
  );
  assert.equal(
    disagreementOf([of(0, 0.1), of(1, 0.9, caution)]),
    'The channels disagree: channel 0 is human; channel 1 is AI-generated, with caution.',
  );
  assert.equal(
    disagreementOf([of(0, 0.1, caution), of(1, 0.9, 'uncertain')]),
    'The channels disagree: channel 0 is human, with caution; channel 1 is AI-generated, uncertain.',
  );
});

const event = (i: number, score: number, soFar: number) => ({
  ...{ type: 'window' as const, event: i, start: 5 * i, end: 5 * i + 5, scores: [score] },
  ...{ result: (score >= 0.5 ? 'spoofed' : 'bonafide') as Result, confidence: Math.abs(score - 0.5) * 2 },
  global: {
    ...{ score: soFar, confidence: 0.9, windows: i + 1 },
    result: (soFar >= 0.5 ? 'spoofed' : 'bonafide') as Result,
  },
});

test('a clone that begins to speak is seen in the last seconds at once, and alarms', () => {
  let facts = nothingYet;
  for (let i = 0; i < 12; i++) facts = withEvent(facts, event(i, 0.02, 0.02));
  assert.equal(verdictSoFar(facts, 0.1, false)?.conclusion.look, 'bonafide');
  assert.equal(verdictLately(facts, 0.5, 0.1, false)?.conclusion.look, 'bonafide');
  assert.deepEqual(alarmsIn(facts.events, 0), []);
  facts = withEvent(facts, event(12, 0.99, 0.09));
  assert.equal(verdictSoFar(facts, 0.1, false)?.conclusion.look, 'uncertain');
  assert.deepEqual(
    alarmsIn(facts.events, 0).map(({ start }) => start),
    [60],
  );
  for (let i = 13; i < 16; i++) facts = withEvent(facts, event(i, 0.99, 0.2));
  const lately = verdictLately(facts, 0.5, 0.1, false);
  assert.deepEqual([lately?.conclusion.look, lately?.startS, lately?.endS], ['spoofed', 60, 80]);
  assert.equal(verdictSoFar(facts, 0.95, false)?.reason, 'uncertain');
});

test('the last window, which begins before an alarm that was seen ended, alarms', () => {
  const facts = withEvent(nothingYet, event(0, 0.99, 0.99));
  assert.deepEqual(alarmsIn(facts.events, 5), []);
  const last = { ...event(1, 0.99, 0.99), start: 4, end: 9 };
  assert.deepEqual(alarmsIn(withEvent(facts, last).events, 5), [last]);
});

test('a stream that is over without a result is not green, and the last seconds have the reason of its audio', () => {
  const facts = withEvent(nothingYet, event(0, 0.02, 0.02));
  const looks = (of: LiveFacts) =>
    [verdictSoFar(of, 0.1, true), verdictLately(of, 0.5, 0.1, true)].map((verdict) => [
      verdict?.conclusion.look,
      verdict?.reason,
    ]);
  const unknown = ['uncertain', undefined];
  assert.deepEqual(looks(facts), [unknown, unknown]);
  const ended = (reason: string | null): LiveFacts => ({
    ...facts,
    result: {
      ...{ type: 'result', event: 1, audio_duration: 5, warnings: [], stretches: [] },
      global: { score: 0.02, result: 'bonafide', confidence: 0.9, reason },
    } as unknown as StreamResult,
  });
  assert.deepEqual(looks(ended(null)), [
    ['bonafide', null],
    ['bonafide', null],
  ]);
  const limited = ['uncertain', 'band_limited'];
  assert.deepEqual(looks(ended('band_limited')), [limited, limited]);
  // The result knows whether windows that differ stand out.
  const differing = { ...ended(null), events: [event(0, 0.02, 0.02), event(1, 0.6, 0.3)] };
  assert.deepEqual(looks(differing), looks(ended(null)));
  // It may hide another one, which holds for the last seconds too.
  assert.deepEqual(looks(ended('mixed_content')), [['uncertain', 'mixed_content'], unknown]);
});
