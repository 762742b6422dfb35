// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#version-0.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aiGenerated, human, joined, silence } from './support/audio.js';
import { postForm } from './support/client.js';
import { expectLargeFilePrediction, expectLegacyPrediction, expectNear } from './support/judge.js';
import { expectedWindows } from './support/prediction-rules.js';
import { wav } from './support/wav.js';

const chunksOf = (durationS: number): number => expectedWindows(durationS).length;

describe('Legacy prediction', () => {
  for (const durationS of [3, 4.999, 5, 5.1, 5.101, 5.39, 10.001, 10.9, 12, 30]) {
    test(`${durationS} s have ${chunksOf(durationS)} chunks, the arrays are aligned`, async () => {
      const answer = await postForm('/v0/predict', { file: wav(human(durationS)) });
      const { predictions, global_probability, error, audio_duration } = expectLegacyPrediction(answer);
      assert.equal(predictions.length, chunksOf(durationS));
      assert.equal(global_probability.length, predictions.length);
      assert.deepEqual(
        error,
        predictions.map(() => null),
      );
      expectNear(audio_duration, durationS, 5e-4, 'audio_duration');
    });
  }

  test('each chunk says what the segment of v1 says with the same model', async () => {
    const samples = joined(human(7), aiGenerated(9));
    const legacy = expectLegacyPrediction(await postForm('/v0/predict', { file: wav(samples) }));
    const { segments, model } = expectLargeFilePrediction(
      await postForm('/v1/predict/large-file', { file: wav(samples, { totalBytes: 5_000_000 }) }),
    );
    assert.equal(legacy.model, model);
    assert.deepEqual(
      legacy.predictions,
      segments.map(({ result }) => (result === 'spoofed' ? 'fake' : 'real')),
    );
    segments.forEach(({ confidence }, i) => {
      expectNear(legacy.global_probability[i] ?? Number.NaN, confidence, 1e-3, `global_probability[${i}]`);
    });
  });

  test('a chunk without speech has a sentence in error, the others go on', async () => {
    const file = wav(joined(human(5), silence(5), human(5)));
    const { predictions, error } = expectLegacyPrediction(await postForm('/v0/predict', { file }));
    assert.equal(predictions.length, 3);
    assert.equal(error.length, 3);
    assert.equal(error[0], null);
    assert.equal(typeof error[1], 'string');
    assert.equal(error[2], null);
  });
});
