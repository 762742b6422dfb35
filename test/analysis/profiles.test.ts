// SPDX-License-Identifier: Apache-2.0
//
// Profiles: a correction of scores near one channel, which must be worth its cost.
import '../../src/analysis/scoring/telemetry-off.js';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { DetectionModel } from '../../src/analysis/models/manifest.js';
import { loadManifest, readModelFile } from '../../src/analysis/models/model-file.js';
import { recalibrated } from '../../src/analysis/models/recalibrated.js';
import { scoreFingerprintOf } from '../../src/analysis/models/score-fingerprint.js';
import { adjustmentOf } from '../../src/analysis/profiles/correction.js';
import { readGeneratedSpeech } from '../../src/analysis/profiles/generated-speech.js';
import { hearRecording } from '../../src/analysis/profiles/hear-recording.js';
import {
  correctionFor,
  type HeardRecording,
  measuredWith,
  whyNotWorthwhile,
} from '../../src/analysis/profiles/make-profile.js';
import { ModelSession } from '../../src/analysis/scoring/model-session.js';
import { logOddsOf } from '../../src/base/log-odds.js';
import { someAnalysis } from '../support/analyser-double.js';
import { shippedModelsDir } from '../support/speaker-models.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const NUMBERS = 24;

/** Numbers that look random and are the same in each run. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

const next = numbersFrom(7);
/** Around a place on the first axis. */
const vectorAt = (place: number): Float32Array =>
  Float32Array.from({ length: NUMBERS }, (_, i) => (i === 0 ? place : 0) + 0.5 * next());
const recordings = (count: number, place: number, score: (i: number) => number): HeardRecording[] =>
  Array.from({ length: count }, (_, i) => ({ vector: vectorAt(place), score: score(i) }));

const generated = {
  vectors: Array.from({ length: 100 }, () => vectorAt(0)),
  scores: Array.from({ length: 100 }, (_, i) => (i % 10 === 0 ? 0.3 : 0.9)),
};
const flagged = recordings(10, 4, (i) => (i < 6 ? 0.8 : 0.2));
const far = recordings(20, -4, (i) => (i % 2 === 0 ? 0.9 : 0.1));

const measured = (genuine: readonly HeardRecording[], own: readonly HeardRecording[] = []) =>
  measuredWith(correctionFor(genuine, generated.vectors), genuine, generated, own);

test('too few recordings for leaving one out are refused', () => {
  assert.throws(() => correctionFor(flagged.slice(0, 1), generated.vectors), RangeError);
});

test('a profile without a gain is not worthwhile', async () => {
  const fine = recordings(10, 4, () => 0.2);
  assert.match(whyNotWorthwhile(await measured(fine)) ?? '', /^none of the genuine recordings is flagged/);
  // Recordings without anything in common: what one says does not help another.
  const scattered = Array.from({ length: 10 }, (_, i) => ({
    vector: Float32Array.from({ length: NUMBERS }, (_, at) => (at === i + 1 ? 8 : 0)),
    score: 0.999999,
  }));
  assert.match(
    whyNotWorthwhile(await measured(scattered)) ?? '',
    /^it helps none of the recordings left out: 10 of 10/,
  );
});

test('a profile that lets AI-generated speech pass is not worthwhile, given recordings included', async () => {
  const own = recordings(10, 4, () => 0.8);
  assert.match(
    whyNotWorthwhile(await measured(flagged, own)) ?? '',
    /^it lets too much AI-generated speech pass: 10 of 10, 0 without it$/,
  );
  const one = await measured(flagged, own.slice(0, 1));
  assert.match(whyNotWorthwhile(one) ?? '', /^it lets too much AI-generated speech pass: 1 of 1, 0 without/);
  const near = recordings(10, 0.1, (i) => (i < 6 ? 0.99 : 0.2));
  assert.match(whyNotWorthwhile(await measured(near)) ?? '', /^it (lets too much|helps none)/);
});

test('recordings left out of a good profile are flagged less, at next to no cost, with Wilson intervals', async () => {
  const found = await measured(flagged, far);
  assert.equal(whyNotWorthwhile(found), undefined);
  assert.deepEqual([found.flagged.without.count, found.flagged.without.of], [6, 10]);
  assert.ok(found.flagged.with.count <= 3, `${found.flagged.with.count}`);
  assert.deepEqual(found.passed.with, found.passed.without);
  assert.deepEqual(found.passed_own?.with, found.passed_own?.without);
  // By the textbook: 6 of 10.
  const [low, high] = found.flagged.without.interval_95;
  assert.ok(Math.abs(low - 0.3127) < 1e-3 && Math.abs(high - 0.8318) < 1e-3);
});

test('scores far from the channel stay to the bit, those near it fall, none rises', () => {
  const adjust = adjustmentOf(correctionFor(flagged, generated.vectors));
  for (const { score, vector } of far) assert.equal(adjust(score, vector), score);
  for (const { score, vector } of recordings(10, 4, () => 0.7)) assert.ok(adjust(score, vector) < score);
  for (let place = -6; place < 9; place += 0.25) assert.ok(adjust(0.6, vectorAt(place)) <= 0.6);
  assert.equal(adjust(1, vectorAt(4)), 1);
  assert.equal(adjust(0, vectorAt(4)), 0);
});

test('a correction is what NumPy computes', () => {
  const fresh = [...recordings(5, 4, () => 0.7), ...recordings(5, 1.5, () => 0.6), ...far];
  const correction = correctionFor(flagged, generated.vectors);
  const adjust = adjustmentOf(correction);
  const rows = (list: readonly { vector: Float32Array }[]) => list.map(({ vector }) => [...vector]);
  const input = JSON.stringify({
    genuine: rows(flagged),
    scores: flagged.map(({ score }) => score),
    generated: generated.vectors.map((vector) => [...vector]),
    new: rows(fresh),
    new_scores: fresh.map(({ score }) => score),
  });
  const script = 'test/reference/profile_correction.py';
  const numpy = JSON.parse(execFileSync('/usr/bin/python3', [script], { input, encoding: 'utf8' }));
  const near = (a: number, b: number, what: string) =>
    assert.ok(Math.abs(a - b) < 1e-5, `${what}: ${a}, ${b}`);
  for (const name of ['from', 'to', 'strength'] as const) near(correction[name], numpy[name], name);
  for (const [i, { score, vector }] of fresh.entries())
    near(adjust(score, vector), numpy.adjusted[i], `${i}`);
});

const { models } = await loadManifest(shippedModelsDir);
const detectors = models.filter((model): model is DetectionModel => model.task === 'detection');

test('each shipped detector has vectors, in one length with those of AI-generated speech', async () => {
  assert.equal(detectors.length, 3);
  for (const model of detectors) {
    const { vectors } = await readGeneratedSpeech(shippedModelsDir, model);
    assert.equal(vectors.length, 256);
    const { source } = await readModelFile(shippedModelsDir, model);
    const session = await ModelSession.load(source, model, { provider: 'cpu' }, 1);
    try {
      const inputs = [1, 2].map((seed) =>
        Float32Array.from({ length: session.inputSize }, numbersFrom(seed)),
      );
      const found = new Float32Array(inputs.length * session.vectorSize);
      const scores = await session.score(inputs, [], found);
      assert.deepEqual(await session.score(inputs), scores, 'vectors change no score');
      const [first, second] = [found.subarray(0, session.vectorSize), found.subarray(session.vectorSize)];
      assert.equal(vectors[0]?.length, session.vectorSize);
      assert.notDeepEqual(first, second);
    } finally {
      await session.release();
    }
  }
});

test('a changed file of AI-generated speech is refused, and so is a detector without vectors', async (t) => {
  const [model] = detectors;
  assert.ok(model?.vectors);
  const folder = temporaryFolder(t);
  fs.writeFileSync(path.join(folder, model.vectors.generated), 'other');
  await assert.rejects(readGeneratedSpeech(folder, model), /expected the SHA-256 [0-9a-f]{64} of detector-/);
  const { calibration } = model;
  await assert.rejects(readGeneratedSpeech(folder, { id: 'mine', calibration }), /mine shows no vectors/);
});

test('after a new calibration, AI-generated speech has its scores', async () => {
  const [model] = detectors;
  assert.ok(model);
  const { scale, bias } = model.calibration;
  const { model: once } = recalibrated(model, { scale: 2 * scale, bias: bias + 1 });
  const { model: twice } = recalibrated(once, { scale: scale / 2, bias: bias / 2 });
  const [before, after] = await Promise.all(
    [model, twice].map((each) => readGeneratedSpeech(shippedModelsDir, each)),
  );
  for (const [i, score] of before?.scores.entries() ?? []) {
    const half = logOddsOf(score) / 2;
    assert.ok(Math.abs(logOddsOf(after?.scores[i] ?? 0) - half) < 1e-6, `${i}: ${half}`);
  }
});

test('vectors are no part of what scores depend on: thresholds hold with and without them', () => {
  for (const model of detectors) {
    const { vectors: _, ...without } = model;
    assert.equal(scoreFingerprintOf(without as DetectionModel), scoreFingerprintOf(model));
  }
});

test('a second look changes nothing that a profile is made of', async () => {
  const first = [Float32Array.of(1, 3), Float32Array.of(3, 5)];
  const heardWith = async (later: readonly Float32Array[]) => {
    const { heard } = await hearRecording(
      {
        analyse({ adjustScore }) {
          const scores = first.map((vector) => adjustScore?.(0.8, vector) ?? 0);
          const windows = scores.map((score, i) => ({ startS: 5 * i, endS: 5 * i + 5, scores: [score] }));
          for (const vector of later) adjustScore?.(0.1, vector);
          return Promise.resolve({ ...someAnalysis, windows });
        },
      },
      { region: { offset: 0, length: 1 }, model: 'm', maxDurationS: 60, signal: AbortSignal.timeout(60_000) },
    );
    return heard;
  };
  const plain = await heardWith([]);
  assert.deepEqual(plain.vector, Float32Array.of(2, 4));
  assert.deepEqual(await heardWith([Float32Array.of(90, 90)]), plain);
});
