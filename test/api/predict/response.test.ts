// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { skippedWindows, someAnalysis } from '../../support/analyser-double.js';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { predict } from '../../support/http-client.js';
import { startTestServer } from '../../support/test-server.js';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test('an upload is answered in the contract’s shape, and its bytes arrive unchanged', async (t) => {
  const { port, analyser, arena } = await startTestServer(t);
  const file = noise(160_000);
  const answer = await predict(port, formBody([fileEntry(file)]));

  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  const { prediction_id, processing_time, ...rest } = answer.json;
  assert.match(prediction_id, /^pred_[0-9a-f]{12}$/);
  assert.ok(processing_time > 0 && processing_time < 10);
  assert.deepEqual(rest, {
    global: { score: 0.975, confidence: 0.95, result: 'spoofed', reason: null },
    segments: [
      { start: 0, end: 5, scores: [0.98], confidence: 0.96, result: 'spoofed' },
      { start: 5, end: 10, scores: [0.97], confidence: 0.94, result: 'spoofed' },
    ],
    model: 'apollo-4-5-2026-03-26',
    audio_duration: 10,
    warnings: [],
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
  assert.deepEqual(analyser.hashes, [sha256(file)]);
  assert.equal(arena.usedBytes, 0);
});

test('every stage is in Server-Timing', async (t) => {
  const { port } = await startTestServer(t);
  const answer = await predict(port, formBody([fileEntry('x')]));
  assert.match(
    String(answer.headers['server-timing']),
    /^receive;dur=[\d.]+, queue;dur=0\.250, decode;dur=1\.500, features;dur=2\.000, inference;dur=30\.000$/,
  );
});

test('a file without speech is 422, never bonafide', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const skipped = [skippedWindows(99, [0, 5], [5, 10])];
  analyser.answer = () => ({ ...someAnalysis, windows: [], skipped });
  const answer = await predict(port, formBody([fileEntry('x')]));
  assert.equal(answer.status, 422);
  assert.equal(answer.json.error, 'validation_error');
  assert.match(answer.json.message, /silence_threshold = 80/);
});

test('a failure inside is 500 with nothing of the cause in the answer, and all of it in the log', async (t) => {
  const { port, analyser, arena, log, metric } = await startTestServer(t);
  analyser.answer = () => {
    throw new Error('the secret cause');
  };
  const answer = await predict(port, formBody([fileEntry('x')]));
  assert.equal(answer.status, 500);
  assert.equal(answer.json.error, 'internal_error');
  assert.doesNotMatch(answer.text, /secret/);
  const line = log.find((candidate) => candidate.correlationId === answer.json.correlation_id);
  assert.match(JSON.stringify(line), /the secret cause/);
  assert.equal(await metric('veravox_errors_total{key="INTERNAL"}'), 1);
  assert.equal(arena.usedBytes, 0);
});
