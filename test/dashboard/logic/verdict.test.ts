// SPDX-License-Identifier: Apache-2.0
//
// The page's own computations agree with the server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disagreementOf } from '../../../dashboard/src/logic/conclusion.js';
import { lanesOf } from '../../../dashboard/src/logic/lanes.js';
import { reasonTexts } from '../../../dashboard/src/logic/reason-texts.js';
import { verdictAt } from '../../../dashboard/src/logic/verdict.js';
import { scoreOf, skippedIn, windowsOf } from '../../../dashboard/src/logic/windows.js';
import type { Analysis } from '../../../src/analysis/analyser/analyser.js';
import { largeFileBody, predictionBody } from '../../../src/analysis/verdict/prediction.js';
import { reasons } from '../../../src/analysis/verdict/reasons.js';
import { missedLookTexts } from '../../../src/analysis/verdict/warnings.js';
import { skippedWindows, someAnalysis } from '../../support/analyser-double.js';

const request = { model: 'm', predictionId: 'p', silenceThresholdPercent: 80 };
const uncertainBelow = 0.15;

/** Reproducible, with scores on thresholds of hundredths. */
function* recordings(): Generator<Analysis> {
  let state = 1;
  const random = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  for (let i = 0; i < 300; i++) {
    const centre = random();
    const spread = i % 3 === 0 ? 0.02 : 1;
    const windows = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, at) => ({
      startS: at * 5,
      endS: at * 5 + 5,
      scores: Array.from({ length: 1 + (i % 3) }, () => {
        const score = Math.min(1, Math.max(0, centre + spread * (random() - 0.5)));
        return i % 5 === 0 ? Math.round(score * 100) / 100 : score;
      }),
    }));
    yield {
      ...someAnalysis,
      windows,
      durationS: windows.length * 5,
      uncertainBelowConfidence: uncertainBelow,
      highBandDropDb: i % 4 === 0 ? 60 : 10,
      noiseGapDb: i % 7 === 0 ? 5 : 40,
    };
  }
}

test('at another threshold the page has the verdict that the server would give', () => {
  let known = 0;
  for (const analysis of recordings()) {
    const asked = predictionBody(analysis, { ...request, threshold: 0.5 }, 0);
    for (const threshold of [0, 0.01, 0.25, 0.5, 0.5001, 0.73, 0.99, 1]) {
      const answer = predictionBody(analysis, { ...request, threshold }, 0);
      const stretches = asked.segments.map(({ start, end, scores }) => ({
        startS: start,
        endS: end,
        scores,
      }));
      const verdict = verdictAt(stretches, threshold, {
        reason: asked.global.reason,
        uncertainBelow,
        isMixed: false,
      });
      assert.ok(verdict);
      assert.deepEqual(
        verdict.windows.map(({ result, confidence }) => ({ result, confidence })),
        answer.segments.map(({ result, confidence }) => ({ result, confidence })),
      );
      assert.equal(verdict.score, answer.global.score);
      assert.equal(verdict.confidence, answer.global.confidence);
      assert.equal(verdict.result, answer.global.result);
      if (verdict.reason === undefined) continue;
      known++;
      assert.equal(verdict.reason, answer.global.reason);
    }
  }
  assert.ok(known > 1000, `${known} reasons were known.`);
});

test('a reason is not made up where the server alone can know it', () => {
  const stretches = [{ startS: 0, endS: 5, scores: [0.9] }];
  const at = (reason: string | null, below: number | undefined, threshold = 0.5, isMixed = false) =>
    verdictAt(stretches, threshold, { reason, uncertainBelow: below, isMixed })?.reason;
  assert.equal(at('mixed_content', 0.15), undefined);
  assert.equal(at('mixed_content', 0.15, 0.5, true), 'mixed_content');
  assert.equal(at('uncertain', 0.15, 0.5, true), 'mixed_content');
  assert.equal(at('uncertain', 0.15), undefined);
  assert.equal(at('band_limited', 0.15), 'band_limited');
  assert.equal(at(null, 0.15), null);
  assert.equal(at(null, 0.15, 0.9), 'uncertain');
  assert.equal(at(null, undefined), undefined);
});

test('without windows there is no verdict', () => {
  assert.equal(verdictAt([], 0.5, { reason: null, uncertainBelow, isMixed: false }), undefined);
});

test('segments without scores have those that follow from their confidence', () => {
  for (const analysis of recordings()) {
    const { segments } = predictionBody(analysis, { ...request, threshold: 0.5 }, 0);
    const large = largeFileBody(analysis, { ...request, threshold: 0.5 }, 0);
    const expected = windowsOf(segments, 0.5);
    for (const [i, window] of windowsOf(large.segments, 0.5).entries()) {
      assert.ok(Math.abs(window.score - (expected[i]?.score ?? Number.NaN)) < 1e-6);
    }
  }
  assert.equal(scoreOf(0, 'spoofed', 0), 0);
  assert.equal(scoreOf(1, 'bonafide', 0.4), 0);
});

test('skipped stretches are found in the warnings of the server', () => {
  const skipped = [skippedWindows(98.765, [5, 10], [10, 12.3456]), skippedWindows(100, [20, 25])];
  const { warnings } = predictionBody(
    { ...someAnalysis, skipped, damagedPackets: 2 },
    { ...request, threshold: 0.5 },
    0,
  );
  assert.equal(warnings.length, 3);
  assert.deepEqual(skippedIn(warnings), [
    { startS: 5, endS: 12.346, nonSpeechPercent: 98.8 },
    { startS: 20, endS: 25, nonSpeechPercent: 100 },
  ]);
});

test('differing windows are no contradiction if the server gives no such reason', () => {
  const windows = Array.from({ length: 20 }, (_, i) => ({
    ...{ startS: 5 * i, endS: 5 * i + 5 },
    scores: [i === 7 ? 0.6 : 0.02],
  }));
  const analysis = { ...someAnalysis, windows, durationS: 100 };
  const steady = { ...analysis, windows: windows.filter((_, i) => i !== 7) };
  const body = predictionBody(analysis, { ...request, threshold: 0.5, channels: [analysis, steady] }, 0);
  assert.equal(body.stretches, undefined);
  const lanes = lanesOf(body, 0.5, 10);
  assert.deepEqual(
    lanes.map(({ conclusion }) => conclusion?.look),
    ['bonafide', 'bonafide', 'bonafide'],
  );
  assert.equal(disagreementOf(lanes.slice(1).map((lane, channel) => ({ ...lane, channel }))), undefined);

  // The server does not know it, or says it.
  const lookOf = (changes: Pick<Partial<typeof body>, 'warnings' | 'global'>) =>
    lanesOf({ ...body, ...changes, channels: [] }, 0.5, 10)[0]?.conclusion?.word;
  for (const warning of Object.values(missedLookTexts))
    assert.equal(lookOf({ warnings: [warning] }), 'Mixed');
  assert.equal(lookOf({ global: { ...body.global, reason: 'mixed_content' } }), 'Mixed');
  assert.equal(lookOf({ global: { ...body.global, reason: 'band_limited' } }), 'With caution');
});

test('every reason of the server has its words', () => {
  assert.deepEqual(
    reasonTexts,
    Object.fromEntries(Object.entries(reasons).map(([name, { meaning }]) => [name, meaning])),
  );
});
