// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Analysis } from '../../src/analysis/analyser/analyser.js';
import { largeFileBody, predictionBody } from '../../src/analysis/verdict/prediction.js';
import { confidenceOf, resultOf, verdictOf } from '../../src/analysis/verdict/verdict.js';
import { warningsOf } from '../../src/analysis/verdict/warnings.js';
import type { LossyCodec } from '../../src/base/addon/addon.js';
import { skippedWindows, someAnalysis } from '../support/analyser-double.js';

const scored = (...scores: number[][]): Analysis => ({
  ...someAnalysis,
  windows: scores.map((windowScores, i) => ({ startS: 5 * i, endS: 5 * i + 5, scores: windowScores })),
});
const verdict = (analysis: Analysis, threshold = 0.5) => verdictOf(analysis, threshold, 80);
/** Windows with one score each, coded at these bit rates. */
const codedAt = (codec: LossyCodec, ...rates: number[]): Analysis => ({
  ...someAnalysis,
  windows: rates.map((codedBitsPerS, i) => ({
    startS: 5 * i,
    endS: 5 * i + 5,
    scores: [0.98],
    codec,
    codedBitsPerS,
  })),
});

/** A minute of this score, with one window and the second look at it of another. */
const spliced = (most: number, one: number): Analysis => ({
  ...scored(...Array.from({ length: 12 }, (_, i) => [i === 6 ? one : most])),
  closerWindows: Array.from({ length: 9 }, (_, i) => ({
    startS: 27 + i,
    endS: 29.5 + i,
    scores: [i >= 3 && i <= 5 ? one : most],
  })),
});

describe('confidence', () => {
  const cases: [score: number, threshold: number, confidence: number][] = [
    [0.98, 0.5, 0.96],
    [0.02, 0.5, 0.96],
    [0.5, 0.5, 0],
    [0.9, 0.8, 0.5],
    [0.4, 0.8, 0.5],
    [1, 0.3, 1],
    [0, 0.3, 1],
    [0, 0, 0],
    [0.25, 0, 0.25],
    [1, 0, 1],
    [1, 1, 0],
    [0.25, 1, 0.75],
    [0, 1, 1],
  ];
  for (const [score, threshold, expected] of cases) {
    test(`of ${score} at threshold ${threshold}`, () => {
      assert.ok(Math.abs(confidenceOf(score, threshold) - expected) < 1e-12);
    });
  }

  test('is between 0 and 1 for every score and threshold', () => {
    for (let s = 0; s <= 100; s++) {
      for (let t = 0; t <= 100; t++) {
        const confidence = confidenceOf(s / 100, t / 100);
        assert.ok(confidence >= 0 && confidence <= 1, `${s} ${t}: ${confidence}`);
      }
    }
  });

  test('a score on the threshold is spoofed', () => {
    assert.equal(resultOf(0.5, 0.5), 'spoofed');
    assert.equal(resultOf(0.499999, 0.5), 'bonafide');
    assert.equal(resultOf(0, 0), 'spoofed');
  });
});

describe('the global verdict', () => {
  test('score and confidence are means over the windows', () => {
    const { score, confidence, result } = verdict(scored([0.9], [0.2], [0.7]));
    assert.equal(score, 0.6);
    assert.equal(confidence, 0.6);
    assert.equal(result, 'spoofed');
  });

  test('a window with several scores counts once, by their mean', () => {
    const { score, segments } = verdict(scored([0.9, 0.1, 0.2], [0]));
    assert.equal(score, 0.2);
    assert.deepEqual(segments[0]?.scores, [0.9, 0.1, 0.2]);
    assert.equal(segments[0]?.result, 'bonafide');
    assert.equal(segments[0]?.confidence, 0.2);
  });

  test('what is printed decides: a score that rounds to the threshold is spoofed', () => {
    const { score, result, segments } = verdict(scored([0.49999999]));
    assert.deepEqual([score, result, segments[0]?.result], [0.5, 'spoofed', 'spoofed']);
  });

  test('no scored window is an error', () => {
    assert.throws(() => verdict(scored()), { key: 'NO_SPEECH', status: 422 });
  });
});

describe('the reason', () => {
  const clear = scored([0.98], [0.97]);
  const cases: [what: string, analysis: Analysis, reason: string | null][] = [
    ['nothing to say', clear, null],
    ['little speech', { ...clear, speechRatio: 0.05 }, null],
    ['clipping', { ...clear, clippedRatio: 0.5 }, null],
    ['a telephone', { ...clear, highBandDropDb: 55 }, 'band_limited'],
    ['a voice with few sibilants', { ...clear, highBandDropDb: 54.5 }, null],
    ['Opus at a low bit rate', codedAt('opus', 19_999), 'low_bit_rate'],
    ['Opus at a higher bit rate', codedAt('opus', 20_000), null],
    ['a low bit rate in half of the windows', codedAt('opus', 12_000, 32_000), null],
    ['a low bit rate in most windows', codedAt('opus', 12_000, 32_000, 12_000), 'low_bit_rate'],
    ['a low bit rate and noise', { ...codedAt('opus', 12_000), noiseGapDb: 3 }, 'low_bit_rate'],
    ['a low bit rate on a telephone', { ...codedAt('opus', 12_000), highBandDropDb: 80 }, 'band_limited'],
    ['another codec at that rate', codedAt('mp3', 12_000), null],
    ['noise', { ...clear, noiseGapDb: 30.5 }, 'low_snr'],
    ['little noise', { ...clear, noiseGapDb: 31 }, null],
    ['noise on a telephone', { ...clear, highBandDropDb: 80, noiseGapDb: 3 }, 'band_limited'],
    ['noise and a generated sentence', { ...spliced(0.02, 0.98), noiseGapDb: 3 }, 'mixed_content'],
    ['a generated sentence', spliced(0.02, 0.98), 'mixed_content'],
    ['a sentence that is hardly less human', spliced(0.02, 0.1), null],
    ['windows that disagree, and do not at a second look', scored([0.98], [0.02]), null],
    ['a score near the threshold', scored([0.59]), 'uncertain'],
    ['a score not so near the threshold', scored([0.61]), null],
    ['a score as near as its model allows', { ...scored([0.59]), uncertainBelowConfidence: 0.15 }, null],
    [
      'a score nearer than its model allows',
      { ...scored([0.61]), uncertainBelowConfidence: 0.3 },
      'uncertain',
    ],
    ['windows that disagree and are near the threshold', scored([0.55], [0.45]), 'uncertain'],
    ['everything at once', { ...scored([0.55], [0.45]), highBandDropDb: 80, noiseGapDb: 3 }, 'uncertain'],
  ];
  for (const [what, analysis, reason] of cases) {
    test(`for ${what}`, () => assert.equal(verdict(analysis).reason, reason));
  }
});

test('the threshold decides on results, not on stretches', () => {
  for (const threshold of [0.2, 0.5, 0.8]) {
    const { stretches, reason } = verdict(spliced(0.02, 0.98), threshold);
    assert.deepEqual(
      stretches.map(({ startS, endS }) => [startS, endS]),
      [[30.5, 34]],
    );
    assert.equal(reason, 'mixed_content');
  }
});

test('a recording that is AI-generated as a whole is one stretch', () => {
  const whole = scored([0.98], [0.97]);
  assert.deepEqual(verdict(whole).stretches, [{ startS: 0, endS: 10, score: 0.975, strength: null }]);
  assert.deepEqual(verdict(whole, 0.99).stretches, []);
});

describe('detail=stretches', () => {
  const analysis = { ...spliced(0.02, 0.98), channels: 2 };
  const asked = { model: 'm', predictionId: 'p', threshold: 0.5, silenceThresholdPercent: 80 };
  const channels = [analysis, scored([0.02]), { ...scored(), durationS: 60 }];

  test('adds fields to the answer and to each channel', () => {
    for (const bodyOf of [predictionBody, largeFileBody]) {
      const answer = bodyOf(analysis, { ...asked, channels, detail: 'stretches' }, 0);
      assert.equal(answer.contains_generated, true);
      assert.deepEqual(
        answer.stretches?.map(({ start, end }) => [start, end]),
        [[30.5, 34]],
      );
      assert.deepEqual(
        answer.channels?.map(({ contains_generated, stretches }) => [contains_generated, stretches?.length]),
        [
          [true, 1],
          [false, 0],
          [false, 0],
        ],
      );
    }
  });

  test('is all that adds them', () => {
    for (const bodyOf of [predictionBody, largeFileBody]) {
      const answer = JSON.stringify(bodyOf(analysis, { ...asked, channels }, 0));
      assert.doesNotMatch(answer, /stretches|contains_generated/);
    }
  });

  test('leaves the score of the whole recording its mean', () => {
    const { global, segments } = predictionBody(analysis, { ...asked, detail: 'stretches' }, 0);
    const mean = segments.reduce((sum, { scores }) => sum + (scores[0] as number), 0) / segments.length;
    assert.equal(global.score, Math.round(mean * 1e6) / 1e6);
  });
});

test('warnings name each skipped stretch and damage', () => {
  const analysis: Analysis = {
    ...someAnalysis,
    skipped: [
      skippedWindows(97.26, [0, 5], [5, 10]),
      skippedWindows(100, [25.001, 30.0625]),
      skippedWindows(80.04, [40, 45]),
    ],
    damagedPackets: 3,
    damagedFromS: 12.5,
    damagedToS: 27.0625,
  };
  assert.deepEqual(warningsOf(analysis, 80), [
    'Not analysed from 0 s to 10 s: 97.3 percent is not speech, and silence_threshold is 80.',
    'Not analysed from 25.001 s to 30.063 s: 100.0 percent is not speech, and silence_threshold is 80.',
    'Not analysed from 40 s to 45 s: 80.1 percent is not speech, and silence_threshold is 80.',
    '3 damaged packets were skipped while decoding, from 12.5 s to 27.063 s.',
  ]);
  assert.deepEqual(warningsOf({ ...someAnalysis, damagedPackets: 1, damagedFromS: 3, damagedToS: 3 }, 80), [
    '1 damaged packet was skipped while decoding, near 3 s.',
  ]);
});

test('warnings name what was not heard, and a missing end', () => {
  const analysis: Analysis = {
    ...someAnalysis,
    unheard: [
      { bytes: 96_044, atS: 3, what: 'a WAV file with another sample rate' },
      { bytes: 700, atS: 10.00025, what: 'data behind the end that the header states' },
    ],
    statedLength: { statedS: 60, foundS: 10.00025 },
    damagedPackets: 1,
    damagedFromS: 3,
    damagedToS: 3,
  };
  assert.deepEqual(warningsOf(analysis, 80), [
    'Not analysed: 96044 bytes after 3 s, a WAV file with another sample rate.',
    'Not analysed: 700 bytes after 10 s, data behind the end that the header states.',
    'Audio is missing: the file states a length of 60 s, but has 10 s.',
    '1 damaged packet was skipped while decoding, near 3 s.',
  ]);
});

test('numbers are printed with at most six decimals, times to the sample', () => {
  const analysis: Analysis = {
    ...someAnalysis,
    durationS: 10.0010625,
    windows: [{ startS: 5.0010625, endS: 10.0010625, scores: [1 / 3] }],
  };
  const request = { model: 'm', predictionId: 'p', threshold: 0.5, silenceThresholdPercent: 80 };
  const body = predictionBody(analysis, request, 1.23456789);
  assert.deepEqual(body.segments, [
    { start: 5.001063, end: 10.001063, scores: [0.333333], confidence: 0.333334, result: 'bonafide' },
  ]);
  assert.equal(body.processing_time, 1.234568);
  assert.equal(body.audio_duration, 10.001063);
});
