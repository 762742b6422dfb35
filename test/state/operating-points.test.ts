// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatingPoint } from '../../src/state/operating-points/operating-point.js';
import { OperatingPoints } from '../../src/state/operating-points/operating-points.js';
import { AnalyserDouble, someDetector, someSpeakerModel } from '../support/analyser-double.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict, request } from '../support/http-client.js';
import { noPoints } from '../support/server-parts.js';
import { API_KEY, startTestServer } from '../support/test-server.js';

const strict: OperatingPoint = {
  name: 'strict',
  model: someDetector.id,
  model_sha256: someDetector.sha256,
  fingerprint: someDetector.scoreFingerprint,
  threshold: 0.975,
  target: { rate: 'fpr', value: 0.01 },
  measured: { fpr: { count: 3, of: 400, value: 0.0075, interval_95: [0.0026, 0.0218] }, fnr: null },
  list: 'calls.csv',
  where: ['split=valid'],
  silence_threshold: 80,
  created_at: '2026-11-21T12:00:00.000Z',
};
const otherWeights = { ...strict, name: 'old', model_sha256: '9'.repeat(64), fingerprint: '9'.repeat(64) };
const otherCalibration = { ...strict, name: 'moved', fingerprint: '9'.repeat(64) };
const otherModel = { ...strict, name: 'theirs', model: 'apollo-4-2026-01-16' };
const points = OperatingPoints.of([strict, otherWeights, otherCalibration, otherModel]);

const form = (threshold: string, model?: string) =>
  formBody([
    fileEntry('x'),
    { name: 'threshold', content: threshold },
    ...(model === undefined ? [] : [{ name: 'model', content: model }]),
  ]);

test('a name that the model has no point of is 400 and tells the known ones; nothing is analysed', async (t) => {
  const { port, analyser, arena } = await startTestServer(t, {}, { operatingPoints: points });
  const cases: [threshold: string, message: RegExp][] = [
    [
      'lenient',
      /operating point of apollo-4-5-2026-03-26 \(strict\) for threshold but received "lenient"\.$/,
    ],
    ['theirs', /\(strict\) for threshold but received "theirs"\.$/],
    ['old', /received "old", which was calibrated with other weights of this model: calibrate again\.$/],
    ['moved', /received "moved", which was calibrated with another recipe or calibration of this model/],
    ['STRICT', /^Expected a number from 0 to 1 or the name of an operating point for threshold but/],
    ['1.5', /but received "1\.5"\.$/],
  ];
  for (const [threshold, message] of cases) {
    const answer = await predict(port, form(threshold));
    assert.equal(answer.status, 400, threshold);
    assert.equal(answer.json.error, 'validation_error');
    assert.match(answer.json.message, message);
  }
  assert.equal(analyser.requests.length, 0);
  assert.equal(arena.usedBytes, 0);
});

test('a server without operating points says so', async (t) => {
  const { port } = await startTestServer(t);
  const answer = await predict(port, form('strict'));
  assert.equal(answer.status, 400);
  assert.match(answer.json.message, /operating point of apollo-4-5-2026-03-26 \(it has none\) for threshold/);
});

test('a named point judges as its number does, each model by its own', async (t) => {
  const operatingPoints = OperatingPoints.of([strict, { ...otherModel, name: 'strict', threshold: 0.99 }]);
  const { port } = await startTestServer(t, {}, { operatingPoints });
  const named = await predict(port, form('strict'));
  const numbered = await predict(port, form('0.975'));
  assert.equal(named.status, 200, named.text);
  assert.deepEqual(named.json.global, numbered.json.global);
  assert.deepEqual(named.json.segments, numbered.json.segments);
  const results = named.json.segments.map(({ result }: { result: string }) => result);
  assert.deepEqual(results, ['spoofed', 'bonafide']);
  const other = await predict(port, form('strict', 'apollo-4-2026-01-16'));
  assert.equal(other.json.global.result, 'bonafide');
});

test('in JSON a name counts as in a form, and a number as text is refused', async (t) => {
  const { port } = await startTestServer(t, {}, { operatingPoints: points });
  const refusalOf = async (threshold: unknown): Promise<string> => {
    const body = Buffer.from(JSON.stringify({ presigned_url: 'https://elsewhere.example.com/a', threshold }));
    const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };
    const answer = await request(port, '/v1/predict', { method: 'POST', headers, body });
    assert.equal(answer.status, 400);
    return answer.json.message;
  };
  // Fields are checked first, then the target of the link.
  assert.match(await refusalOf('strict'), /elsewhere\.example\.com/);
  assert.match(await refusalOf('lenient'), /for threshold but received "lenient"/);
  assert.match(await refusalOf('0.5'), /for threshold but received the string "0\.5"/);
  assert.match(await refusalOf(['strict']), /for threshold but received an array/);
});

test('the speaker model takes its similarity from a named point', async (t) => {
  const point = {
    ...strict,
    model: someSpeakerModel.id,
    model_sha256: someSpeakerModel.sha256,
    fingerprint: someSpeakerModel.scoreFingerprint,
  };
  await assert.rejects(
    startTestServer(t, { matchThreshold: 'strict' }),
    /operating point of voiceprint-1-2026-11-22 \(it has none\) for VERAVOX_MATCH_THRESHOLD/,
  );
  await startTestServer(t, { matchThreshold: 'strict' }, { operatingPoints: OperatingPoints.of([point]) });
});

test('points that no request may name are known beforehand', () => {
  assert.deepEqual(
    points.unusable([someDetector]).map(({ name, why }) => [name, why]),
    [
      ['old', 'was calibrated with other weights of this model: calibrate again'],
      ['moved', 'was calibrated with another recipe or calibration of this model: calibrate again'],
      ['theirs', 'belongs to a model that is not loaded'],
    ],
  );
});

test('points that come with other models hold from then on', async (t) => {
  const server = await startTestServer(t);
  assert.equal((await predict(server.port, form('strict'))).status, 400);
  server.server.replaceModels(new AnalyserDouble(server.arena), points);
  assert.equal((await predict(server.port, form('strict'))).status, 200);
  server.server.replaceModels(new AnalyserDouble(server.arena), noPoints);
  assert.equal((await predict(server.port, form('strict'))).status, 400);
});

test('points that are saved while the server runs hold from then on, with the same models', async (t) => {
  const server = await startTestServer(t);
  server.server.replaceOperatingPoints(points);
  assert.equal((await predict(server.port, form('strict'))).status, 200);
  server.server.replaceOperatingPoints(OperatingPoints.of([]));
  assert.equal((await predict(server.port, form('strict'))).status, 400);
});
