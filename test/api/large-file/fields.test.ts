// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DetectorNames } from '../../../src/base/contract/model-ids.js';
import { predictFieldSchemas } from '../../../src/base/contract/predict-fields.js';
import { type FormEntry, fileEntry, formBody, noise } from '../../support/form-body.js';
import { postForm } from '../../support/http-client.js';
import { startTestServer } from '../../support/test-server.js';

const MODEL = 'apollo-4-2025-10-20';
const file = fileEntry(noise(5_000_000));
const field = (name: string, content: string): FormEntry => ({ name, content });
const post = (port: number, ...fields: FormEntry[]) =>
  postForm(port, '/v1/predict/large-file', formBody([...fields, file]));

test('values outside a field’s range are 400 and say what was expected and received', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const cases: [name: string, value: string, message: RegExp][] = [
    [
      'model',
      'apollo-4-5-2026-03-26',
      /^Expected apollo-4-2025-10-20 for model but received "apollo-4-5-2026-03-26"\.$/,
    ],
    ['model', 'NULL', /"NULL"/],
    ['model', ' ', /model but received " "/],
    ['device', 'toaster', /^Expected one of macos, windows, web_app, api for device/],
    ['device', '', /device but received an empty value/],
    ['prediction_id', 'a b', /for prediction_id/],
    ['prediction_id', 'a'.repeat(129), /for prediction_id/],
  ];
  for (const [name, value, message] of cases) {
    const answer = await post(port, field(name, value));
    assert.equal(answer.status, 400, `${name}=${value}`);
    assert.equal(answer.json.error, 'validation_error');
    assert.match(answer.json.message, message);
  }
  const twice = await post(port, field('model', 'null'), field('model', MODEL));
  assert.match(twice.json.message, /model was given more than once/);
  assert.equal(analyser.requests.length, 0);
});

test('the model may be named, left out or null', async (t) => {
  const { port, analyser } = await startTestServer(t);
  for (const fields of [[], [field('model', MODEL)], [field('model', '')], [field('model', 'null')]]) {
    const answer = await post(port, ...fields);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.model, MODEL);
    assert.equal(analyser.requests.at(-1)?.model, MODEL);
  }
});

test('what may be said is taken as it is, up to its limits', async (t) => {
  const { port } = await startTestServer(t);
  for (const filename of ['a.wav', '', '../../etc/passwd', '🎙'.repeat(1024)]) {
    const answer = await post(
      port,
      field('filename', filename),
      field('device', 'web_app'),
      field('prediction_id', 'x'.repeat(128)),
    );
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.prediction_id, 'x'.repeat(128));
    assert.equal(answer.json.filename, undefined);
  }
});

test('thresholds in the request are ignored: 0.5 and 80 hold', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const answer = await post(port, field('threshold', '0.975'), field('silence_threshold', 'nonsense'));
  assert.equal(answer.status, 200);
  assert.equal(analyser.requests[0]?.silenceThresholdPercent, 80);
  assert.deepEqual(
    answer.json.segments.map(({ confidence }: { confidence: number }) => confidence),
    [0.96, 0.94],
  );
});

test('/v1/predict does not offer the model of large files, unless an operator has no other', () => {
  const offered = (...detectors: DetectorNames[]) => predictFieldSchemas(detectors).model.enum;
  const other = { id: 'apollo-4-5-2026-03-26', aliases: [] };
  assert.deepEqual(offered(other, { id: MODEL, aliases: [] }), [other.id]);
  assert.deepEqual(offered({ id: MODEL, aliases: [] }), [MODEL]);
  assert.deepEqual(offered({ id: 'own', aliases: [MODEL] }), ['own']);
});
