// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#the-whole-recording.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { Prediction } from '../../src/base/contract/prediction.js';
import { aiGenerated, human, joined } from './support/audio.js';
import { postForm } from './support/client.js';
import { expectNear, expectPrediction } from './support/judge.js';
import { expectConsistent } from './support/prediction-rules.js';
import { skipUnlessOwn } from './support/target.js';
import { wav } from './support/wav.js';

const mixture = () => wav(joined(human(10), aiGenerated(10)));
const judged = async (threshold: number): Promise<Prediction> =>
  expectPrediction(await postForm('/v1/predict', { file: mixture(), threshold: String(threshold) }));

describe('Global verdict', () => {
  let score: number;

  before(async () => {
    const { global } = await judged(0.5);
    score = global.score;
  });

  for (const threshold of [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]) {
    test(`score, confidence and result follow from the scores at a threshold of ${threshold}`, async () => {
      const prediction = await judged(threshold);
      expectConsistent(prediction, threshold);
      expectNear(prediction.global.score, score, 1e-4, 'the score, which no threshold changes,');
    });
  }

  test('the result is spoofed where the threshold is just below the score, bonafide where it is just above', async () => {
    assert.ok(score > 0.001 && score < 0.999, `a score of ${score} leaves room on both sides`);
    assert.equal((await judged(score - 0.001)).global.result, 'spoofed');
    assert.equal((await judged(score + 0.001)).global.result, 'bonafide');
  });

  test('a score at the threshold is spoofed, with a confidence of 0', async () => {
    const file = wav(human(5));
    const { global } = expectPrediction(await postForm('/v1/predict', { file }));
    const atScore = await postForm('/v1/predict', { file, threshold: String(global.score) });
    const { segments, ...prediction } = expectPrediction(atScore);
    assert.equal(prediction.global.result, 'spoofed');
    assert.equal(segments[0]?.result, 'spoofed');
    expectNear(prediction.global.confidence, 0, 1e-4, 'global.confidence');
  });

  test('at a threshold of 0 everything is spoofed', async () => {
    const { global, segments } = await judged(0);
    assert.deepEqual(new Set([global.result, ...segments.map(({ result }) => result)]), new Set(['spoofed']));
  });

  test('a reason is one of the documented codes', { skip: skipUnlessOwn }, async () => {
    const documented = fs.readFileSync(path.join(packageDir, 'docs/reasons.md'), 'utf8');
    const recordings = [
      human(10),
      human(1.2),
      joined(human(10), aiGenerated(10)),
      human(10).map((s) => s * 8),
    ];
    for (const samples of recordings) {
      const { global } = expectPrediction(await postForm('/v1/predict', { file: wav(samples) }));
      assert.ok(global.reason === null || documented.includes(`\`${global.reason}\``), String(global.reason));
    }
  });
});
