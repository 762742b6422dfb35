// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { LargeFilePrediction, Prediction } from '../../../src/base/contract/prediction.js';
import { expectNear } from './judge.js';

type Segment = Prediction['segments'][number];

/** Answers may be rounded; four decimals must be right. */
const tolerance = 1e-4;
const timeToleranceS = 5e-4;

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** Relations between the fields of every answer of `POST /v1/predict`. */
export function expectConsistent(prediction: Prediction, threshold = 0.5): void {
  const { global, segments } = prediction;
  expectOrdered(prediction);
  for (const segment of segments) {
    expectVerdict(mean(segment.scores), threshold, segment, `segment at ${segment.start}`);
  }
  expectNear(global.score, mean(segments.flatMap(({ scores }) => scores)), tolerance, 'global.score');
  expectNear(
    global.confidence,
    mean(segments.map(({ confidence }) => confidence)),
    tolerance,
    'global.confidence',
  );
  expectResult(global.score, threshold, global.result, 'global');
  expectReason(prediction);
}

/** The same for `POST /v1/predict/large-file`, where the score follows from confidence and result. */
export function expectLargeFileConsistent(prediction: LargeFilePrediction): void {
  const { global, segments } = prediction;
  expectOrdered(prediction);
  segments.forEach(({ index }, position) => {
    assert.equal(index, position);
  });
  expectNear(
    global.confidence,
    mean(segments.map(({ confidence }) => confidence)),
    tolerance,
    'global.confidence',
  );
  const score = mean(
    segments.map(({ confidence, result }) => 0.5 + (result === 'spoofed' ? confidence : -confidence) / 2),
  );
  expectResult(score, 0.5, global.result, 'global');
  expectReason(prediction);
}

function expectOrdered(prediction: Prediction | LargeFilePrediction): void {
  const { segments, audio_duration: duration } = prediction;
  segments.forEach(({ start, end }, i) => {
    assert.ok(start < end, `${start} is before ${end}`);
    expectNear(end - start, Math.min(5, duration), timeToleranceS, `length of the segment at ${start}`);
    assert.ok(end <= duration + timeToleranceS, `${end} is within ${duration}`);
    const next = segments[i + 1];
    assert.ok(next === undefined || next.start > start, 'segments are in the order of time');
  });
}

function expectVerdict(
  score: number,
  threshold: number,
  { confidence, result }: Pick<Segment, 'confidence' | 'result'>,
  what: string,
): void {
  expectResult(score, threshold, result, what);
  const [distance, room] =
    score >= threshold ? [score - threshold, 1 - threshold] : [threshold - score, threshold];
  // At a threshold of 1 a score of 1 has no range: any number is valid.
  if (room > 0)
    expectNear(confidence, distance / room, tolerance + tolerance / room, `confidence of ${what}`);
}

function expectResult(score: number, threshold: number, result: string, what: string): void {
  // The score may have been rounded to the threshold, except at the ends of its range.
  if (Math.abs(score - threshold) < tolerance && threshold > 0 && threshold < 1) return;
  assert.equal(result, score >= threshold ? 'spoofed' : 'bonafide', `result of ${what}, score ${score}`);
}

function expectReason({
  global,
  stretches,
  contains_generated: contains,
}: Prediction | LargeFilePrediction): void {
  assert.equal(
    contains,
    stretches && stretches.length > 0,
    'there is generated speech if there are stretches',
  );
  if (stretches === undefined) return;
  const isMixed = stretches.some(({ strength }) => strength !== null);
  if (global.reason !== 'uncertain')
    assert.equal(global.reason === 'mixed_content', isMixed, 'content is mixed if a stretch stands out');
}

/** The windows of audio of this duration (docs/predict.md#windows). */
export function expectedWindows(durationS: number): [start: number, end: number][] {
  if (durationS < 5) return [[0, durationS]];
  const whole = Math.floor(durationS / 5);
  const residualS = durationS - whole * 5;
  const windows: [number, number][] = Array.from({ length: whole }, (_, i) => [i * 5, i * 5 + 5]);
  const atTheEnd: [number, number] = [Number((durationS - 5).toFixed(3)), durationS];
  // A millionth of a second for binary rounding: exactly 0.1 s makes no window.
  if (residualS > 0.1 + 1e-6) windows.push(atTheEnd);
  else if (residualS > 0) windows[whole - 1] = atTheEnd;
  return windows;
}

export function expectWindows(
  segments: readonly { readonly start: number; readonly end: number }[],
  expected: readonly (readonly [start: number, end: number])[],
): void {
  const received = segments.map(({ start, end }) => [start, end]);
  assert.equal(received.length, expected.length, JSON.stringify(received));
  expected.forEach(([start, end], i) => {
    expectNear(received[i]?.[0] ?? Number.NaN, start, timeToleranceS, `start of segment ${i}`);
    expectNear(received[i]?.[1] ?? Number.NaN, end, timeToleranceS, `end of segment ${i}`);
  });
}

/** A stretch without speech is listed with its times and share. */
export function expectSilenceWarning(warnings: readonly string[], startS: number, endS: number): void {
  const number = (value: number) => `(?<![\\d.])${value}(\\.0+)?(?![\\d.]*\\d)`;
  const pattern = new RegExp(`${number(startS)}.*${number(endS)}`);
  const found = warnings.find((warning) => pattern.test(warning));
  assert.ok(found, `no warning names ${startS} to ${endS}: ${JSON.stringify(warnings)}`);
  assert.match(found, /\d+(\.\d+)? ?(%|percent)/, 'the warning names the share of silence');
}
