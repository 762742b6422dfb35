// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#read-a-verdict.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aiGenerated, human, joined, otherHuman, silence } from './support/audio.js';
import { postForm } from './support/client.js';
import { expectLargeFilePrediction, expectNear, expectPrediction } from './support/judge.js';
import {
  expectConsistent,
  expectLargeFileConsistent,
  expectSilenceWarning,
} from './support/prediction-rules.js';
import { wav } from './support/wav.js';

const recordings = {
  'a human voice': () => human(14),
  'another human voice': () => otherHuman(7),
  'an AI-generated voice': () => aiGenerated(9),
  'a human and an AI-generated voice': () => joined(human(10), aiGenerated(10)),
  'one short window': () => human(1.5),
  'speech with a silent stretch': () => joined(human(5), silence(10), human(5)),
};

describe('Prediction', () => {
  for (const [name, samples] of Object.entries(recordings)) {
    test(`/predict answers ${name} with all fields, which agree with each other`, async () => {
      const prediction = expectPrediction(await postForm('/v1/predict', { file: wav(samples()) }));
      expectConsistent(prediction);
      expectNear(prediction.audio_duration, samples().length / 16_000, 5e-4, 'audio_duration');
    });

    test(`/predict/large-file answers ${name} with all fields, which agree with each other`, async () => {
      const file = wav(samples(), { totalBytes: 5_000_000 });
      const prediction = expectLargeFilePrediction(await postForm('/v1/predict/large-file', { file }));
      expectLargeFileConsistent(prediction);
      expectNear(prediction.audio_duration, samples().length / 16_000, 5e-4, 'audio_duration');
    });
  }

  test('prediction_id is pred_ and 12 hexadecimal characters, another one each time', async () => {
    const file = wav(human(1));
    const answers = [await postForm('/v1/predict', { file }), await postForm('/v1/predict', { file })];
    const ids = answers.map((answer) => expectPrediction(answer).prediction_id);
    for (const id of ids) assert.match(id, /^pred_[0-9a-f]{12}$/);
    assert.notEqual(ids[0], ids[1]);
  });

  test('processing_time is more than nothing and no more than what the client has waited', async () => {
    const startedMs = performance.now();
    const answer = await postForm('/v1/predict', { file: wav(human(10)) });
    const waitedS = (performance.now() - startedMs) / 1000;
    const { processing_time: processingS } = expectPrediction(answer);
    assert.ok(processingS > 0 && processingS <= waitedS, `${processingS} of ${waitedS} s`);
  });

  test('the model scores an AI-generated voice above a human one', async () => {
    const scoreOf = async (samples: Int16Array) =>
      expectPrediction(await postForm('/v1/predict', { file: wav(samples) })).global.score;
    assert.ok((await scoreOf(aiGenerated(9))) > (await scoreOf(human(9))));
  });

  test('warnings are empty when there is nothing to warn of', async () => {
    const { warnings } = expectPrediction(await postForm('/v1/predict', { file: wav(human(10)) }));
    assert.deepEqual(warnings, []);
  });

  test('each contiguous stretch without speech is one warning with its times and share', async () => {
    const twoStretches = joined(human(5), silence(10), human(5), silence(5));
    const { segments, warnings } = expectPrediction(
      await postForm('/v1/predict', { file: wav(twoStretches) }),
    );
    assert.deepEqual(
      segments.map(({ start }) => start),
      [0, 15],
    );
    assert.equal(warnings.length, 2, JSON.stringify(warnings));
    expectSilenceWarning(warnings, 5, 15);
    expectSilenceWarning(warnings, 20, 25);
  });
});
