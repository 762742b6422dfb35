// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Analysis } from '../../../src/analysis/analyser/analyser.js';
import { legacyPredictionBody } from '../../../src/analysis/verdict/legacy.js';
import { skippedWindows, someAnalysis } from '../../support/analyser-double.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { postForm } from '../../support/http-client.js';
import { startTestServer } from '../../support/test-server.js';

const window = (startS: number, endS: number, score: number) => ({ startS, endS, scores: [score] });

test('a file without speech is 422, never real', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const skipped = [skippedWindows(99, [0, 5], [5, 10])];
  analyser.answer = () => ({ ...someAnalysis, windows: [], skipped });
  const answer = await postForm(port, '/v0/predict', formBody([fileEntry('x')]));
  assert.equal(answer.status, 422);
  assert.equal(answer.json.error, 'validation_error');
});

test('chunks without speech have their sentence, the label of the whole and no probability; others go on', () => {
  const analysis: Analysis = {
    ...someAnalysis,
    durationS: 23.5,
    windows: [window(10, 15, 0.1), window(15, 20, 0.8)],
    skipped: [skippedWindows(97.26, [0, 5], [5, 10]), skippedWindows(81, [18.5, 23.5])],
  };
  const { processing_time, ...body } = legacyPredictionBody(analysis, 80, 1);
  const beginning = 'Not analysed from 0 s to 10 s: 97.3 percent is not speech; the limit is 80 percent.';
  assert.deepEqual(body, {
    predictions: ['real', 'real', 'real', 'fake', 'real'],
    global_probability: [0, 0, 0.8, 0.6, 0],
    error: [
      beginning,
      beginning,
      null,
      null,
      'Not analysed from 18.5 s to 23.5 s: 81.0 percent is not speech; the limit is 80 percent.',
    ],
    model: 'apollo-4-2025-10-20',
    audio_duration: 23.5,
  });
});

test('a chunk with damage keeps its label and says what is missing', () => {
  const windows = [window(0, 5, 0.9), window(5, 10, 0.9), window(10, 15, 0.2)];
  const analysis = {
    ...someAnalysis,
    durationS: 15,
    windows,
    damagedPackets: 9,
    damagedAtS: [7.25, 8.5, 15],
  };
  const body = legacyPredictionBody(analysis, 80, 1);
  assert.deepEqual(body.predictions, ['fake', 'fake', 'real']);
  assert.deepEqual(body.global_probability, [0.8, 0.8, 0.6]);
  assert.deepEqual(body.error, [
    null,
    'Damaged audio was skipped near 7.25 s; the rest was analysed.',
    'Damaged audio was skipped near 15 s; the rest was analysed.',
  ]);
});

test('a chunk says what was not heard after it', () => {
  const analysis = {
    ...someAnalysis,
    durationS: 15,
    windows: [window(0, 5, 0.9), window(5, 10, 0.9), window(10, 15, 0.2)],
    damagedPackets: 1,
    damagedAtS: [15],
    unheard: [{ bytes: 96_044, atS: 7, what: 'a WAV file with another sample rate' }],
    statedLength: { statedS: 60, foundS: 15 },
  };
  assert.deepEqual(legacyPredictionBody(analysis, 80, 1).error, [
    null,
    'Not analysed: 96044 bytes after 7 s, a WAV file with another sample rate.',
    'Damaged audio was skipped near 15 s; the rest was analysed. ' +
      'Audio is missing: the file states a length of 60 s, but has 15 s.',
  ]);
});

test('the last chunk slides back, and is found whether it was scored or skipped', () => {
  const last = 12.4 - 5;
  const scored = { ...someAnalysis, durationS: 12.4, windows: [window(last, 12.4, 0.9)] };
  const before = [skippedWindows(100, [0, 5], [5, 10])];
  assert.deepEqual(legacyPredictionBody({ ...scored, skipped: before }, 80, 1).error.at(-1), null);
  const skipped = {
    ...someAnalysis,
    durationS: 12.4,
    windows: [window(0, 5, 0.9)],
    skipped: [skippedWindows(100, [5, 10], [last, 12.4])],
  };
  const { error } = legacyPredictionBody(skipped, 80, 1);
  assert.deepEqual(
    error.map((sentence) => sentence === null),
    [true, false, false],
  );
});

for (const path of ['/v0/predict', '/predict']) {
  test(`${path}: the answer has the contract’s shape`, async (t) => {
    const { port, analyser } = await startTestServer(t);
    analyser.answer = ({ model: modelId }) => ({
      ...someAnalysis,
      modelId,
      durationS: 12.4,
      windows: [window(0, 5, 0.9792), window(5, 10, 0.97925), window(7.4, 12.4, 0.04385)],
    });
    const answer = await postForm(port, path, formBody([fileEntry('x'), { name: 'user_id', content: 'me' }]));
    assert.equal(answer.status, 200);
    const { processing_time, ...rest } = answer.json;
    assert.ok(processing_time > 0 && processing_time < 10);
    assert.deepEqual(rest, {
      predictions: ['fake', 'fake', 'real'],
      global_probability: [0.9584, 0.9585, 0.9123],
      error: [null, null, null],
      model: 'apollo-4-2025-10-20',
      audio_duration: 12.4,
    });
    assert.deepEqual(Object.keys(answer.json), [
      'predictions',
      'global_probability',
      'error',
      'model',
      'processing_time',
      'audio_duration',
    ]);
  });
}
