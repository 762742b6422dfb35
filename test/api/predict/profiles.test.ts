// SPDX-License-Identifier: Apache-2.0
//
// The field `profile` of every way to a verdict.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { OperatingPoints } from '../../../src/state/operating-points/operating-points.js';
import { someDetector } from '../../support/analyser-double.js';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { postForm } from '../../support/http-client.js';
import { startJobServer } from '../../support/job-server.js';
import { someProfile } from '../../support/stored-points.js';
import { StreamClient } from '../../support/stream-client.js';

const LARGE = 'apollo-4-2025-10-20';
const bound = { model_sha256: someDetector.sha256, fingerprint: someDetector.scoreFingerprint };
const studio = { ...someProfile, ...bound, model: someDetector.id };
const profiles = [
  studio,
  { ...studio, model: LARGE },
  { ...studio, name: 'old', model_sha256: '9'.repeat(64), fingerprint: '9'.repeat(64) },
  { ...studio, name: 'moved', fingerprint: '9'.repeat(64) },
  { ...studio, name: 'theirs', model: 'apollo-4-2026-01-16' },
];

const start = (t: TestContext) =>
  startJobServer(t, { jobWorkers: 0 }, { operatingPoints: OperatingPoints.of([], profiles) });
const form = (profile: string, file = fileEntry('x')) =>
  formBody([{ name: 'profile', content: profile }, file]);

const refused: readonly [profile: string, message: RegExp][] = [
  ['unknown', /a profile of apollo-4-5-2026-03-26 \(studio\) for profile but received "unknown"\.$/],
  ['theirs', /\(studio\) for profile but received "theirs"\.$/],
  ['old', /received "old", which was made with other weights of this model: make it again\.$/],
  ['moved', /which was made with another recipe or calibration of this model: make it again\.$/],
  ['STUDIO', /^Expected the name of a profile for profile but received (?:the string )?"STUDIO"\.$/],
];

test('a name without a profile of the detector is refused everywhere, and nothing is analysed', async (t) => {
  const server = await start(t);
  for (const [profile, message] of refused) {
    const predicted = await postForm(server.port, '/v1/predict', form(profile));
    const job = await server.call('POST', '/v1/jobs', { key: 'a', profile });
    for (const { status, json } of [predicted, job]) {
      assert.equal(status, 400, profile);
      assert.match(json.message, message);
    }
    const stream = await StreamClient.open(server.port, {
      path: `/v1/stream?encoding=pcm16&sample_rate=16000&profile=${profile}`,
    });
    assert.equal((await stream.ended()).key, 'FIELD_INVALID');
  }
  const large = await postForm(
    server.port,
    '/v1/predict/large-file',
    form('old', fileEntry(noise(5_000_000))),
  );
  assert.match(large.json.message, /a profile of apollo-4-2025-10-20 \(studio\)/);
  assert.equal(server.analyser.requests.length, 0);
  assert.deepEqual((await server.call('GET', '/v1/jobs')).json.jobs, []);
});

/** On the direction of the profile, halfway: half of its strength. */
const HALFWAY = Float32Array.of(1.2, 1.6);
const BY_HAND = 1 / (1 + Math.exp(-(Math.log(0.8 / 0.2) - 2)));

test('the profile of a request corrects its scores, and the answer names it', async (t) => {
  const server = await start(t);
  const paths = [
    ['/v1/predict', form('studio')],
    ['/v1/predict/large-file', form('studio', fileEntry(noise(5_000_000)))],
  ] as const;
  for (const [path, body] of paths) {
    const { status, json, text } = await postForm(server.port, path, body);
    assert.equal(status, 200, text);
    assert.equal(json.profile, 'studio');
    const adjusted = server.analyser.requests.at(-1)?.adjustScore?.(0.8, HALFWAY) ?? 0;
    assert.ok(Math.abs(adjusted - BY_HAND) < 1e-6, `${path}: ${adjusted}`);
  }
  const plain = await postForm(server.port, '/v1/predict', formBody([fileEntry('x')]));
  assert.equal('profile' in plain.json, false);
  assert.equal(server.analyser.requests.at(-1)?.adjustScore, undefined);
});

test('a stream takes a profile, and says so', async (t) => {
  const server = await start(t);
  const client = await StreamClient.open(server.port, {
    path: '/v1/stream?encoding=pcm16&sample_rate=16000&profile=studio',
  });
  assert.equal((await client.next('ready')).profile, 'studio');
  const [live] = server.analyser.liveStreams;
  const adjusted = live?.request.adjustScore?.(0.8, HALFWAY) ?? 0;
  assert.ok(Math.abs(adjusted - BY_HAND) < 1e-6, `${adjusted}`);
  live?.tellWindow(0, 0.9);
  live?.tellEnd(5);
  assert.equal((await client.next('result')).profile, 'studio');
});

test('a job keeps the correction that its profile had when it was made', async (t) => {
  const server = await start(t);
  await server.store('a', Buffer.from('a recording'));
  const made = await server.call('POST', '/v1/jobs', { key: 'a', profile: 'studio' });
  assert.equal(made.status, 202, made.text);
  const [row] = await server.database.query<{ parameters: string }>('SELECT parameters FROM jobs');
  const { profile, correction, boundTo } = JSON.parse(row?.parameters ?? '');
  assert.equal(profile, 'studio');
  assert.deepEqual(correction, studio.correction);
  const { id: modelId, scoreFingerprint } = someDetector;
  assert.deepEqual(boundTo, { modelId, scoreFingerprint });
});
