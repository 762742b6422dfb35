// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { progressLog } from '../../../src/base/observe/progress-log.js';
import { skippedWindows, someAnalysis } from '../../support/analyser-double.js';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { postForm, predict } from '../../support/http-client.js';
import { startTestServer } from '../../support/test-server.js';

const PATH = '/v1/predict/large-file';
const body = formBody([fileEntry(noise(5_000_000))]);

test('a file without speech is 422, never bonafide', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const skipped = [skippedWindows(99, [0, 5], [5, 10])];
  analyser.answer = () => ({ ...someAnalysis, windows: [], skipped });
  const answer = await postForm(port, PATH, body);
  assert.equal(answer.status, 422);
  assert.equal(answer.json.error, 'validation_error');
  assert.match(answer.json.message, /silence_threshold = 80/);
});

test('the answer has the contract’s shape: numbered segments, no raw scores', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const skipped = [skippedWindows(97.26, [5, 10], [10, 15])];
  analyser.answer = ({ model: modelId }) => ({
    ...someAnalysis,
    modelId,
    durationS: 20,
    windows: [
      { startS: 0, endS: 5, scores: [0.98] },
      { startS: 15, endS: 20, scores: [0.97] },
    ],
    skipped,
  });
  const answer = await postForm(port, PATH, body);
  assert.equal(answer.status, 200);
  const { prediction_id, processing_time, ...rest } = answer.json;
  assert.match(prediction_id, /^pred_[0-9a-f]{12}$/);
  assert.ok(processing_time > 0);
  assert.deepEqual(rest, {
    global: { confidence: 0.95, result: 'spoofed', reason: null },
    segments: [
      { index: 0, start: 0, end: 5, confidence: 0.96, result: 'spoofed' },
      { index: 1, start: 15, end: 20, confidence: 0.94, result: 'spoofed' },
    ],
    model: 'apollo-4-2025-10-20',
    audio_duration: 20,
    warnings: ['Not analysed from 5 s to 15 s: 97.3 percent is not speech, and silence_threshold is 80.'],
  });
  assert.deepEqual(Object.keys(answer.json), [
    'prediction_id',
    'global',
    'segments',
    'model',
    'processing_time',
    'audio_duration',
    'warnings',
  ]);
  assert.deepEqual(Object.keys(answer.json.segments[0]), ['index', 'start', 'end', 'confidence', 'result']);
  assert.match(String(answer.headers['server-timing']), /^receive;dur=.*inference;dur=/);
});

test('without its model the route is not there, the log says so, and nobody is sent to it', async (t) => {
  const { port, log } = await startTestServer(t, {}, { models: ['mine'] });
  for (const path of [PATH, '/v0/predict', '/predict']) {
    assert.equal((await postForm(port, path, body)).status, 404);
  }
  const warning = log.find(({ level }) => level === 'warn');
  assert.equal(warning?.model, 'apollo-4-2025-10-20');
  const tooLarge = await predict(port, formBody([fileEntry(noise(5_300_000))]));
  assert.equal(tooLarge.status, 413);
  assert.doesNotMatch(tooLarge.json.message, /large-file/);
  assert.equal((await predict(port, formBody([fileEntry('x')]))).json.model, 'mine');
});

test('the progress of a request is logged under its correlation id, that of short ones is not', async (t) => {
  const { port, analyser, log } = await startTestServer(t);
  const { answer } = analyser;
  analyser.answer = (request) => {
    request.onProgress?.({ scoredWindows: 1, preparedS: 5, fileProgress: 0.01 });
    const later = performance.now() + 6000;
    const clock = t.mock.method(performance, 'now', () => later);
    request.onProgress?.({ scoredWindows: 2, preparedS: 10, fileProgress: 0.5 });
    clock.mock.restore();
    return answer(request);
  };
  const { headers } = await postForm(port, PATH, body);
  const lines = log.filter(({ msg }) => msg === 'analysing');
  assert.deepEqual(
    lines.map(({ correlationId, filePercent, scoredWindows }) => [correlationId, filePercent, scoredWindows]),
    [[headers['x-correlation-id'], 50, 2]],
  );
});

test('progress is logged every five seconds with the correlation id', () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  let nowMs = 1000;
  const progress = progressLog(logger, 'the-id', () => nowMs);
  for (; nowMs <= 13_000; nowMs += 100) {
    progress({ scoredWindows: nowMs / 100, preparedS: nowMs / 20, fileProgress: nowMs / 30_000 });
  }
  assert.deepEqual(
    lines.map(({ time, ...line }) => line),
    [
      {
        level: 30,
        correlationId: 'the-id',
        filePercent: 20,
        preparedS: 300,
        scoredWindows: 60,
        msg: 'analysing',
      },
      {
        level: 30,
        correlationId: 'the-id',
        filePercent: 36.7,
        preparedS: 550,
        scoredWindows: 110,
        msg: 'analysing',
      },
    ],
  );
});
