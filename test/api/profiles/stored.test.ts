// SPDX-License-Identifier: Apache-2.0
//
// `/v1/profiles` after one was made: who sees, uses, changes and deletes it, and its versions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LARGE_FILE_MODEL } from '../../../src/base/contract/model-ids.js';
import { MAX_PROFILE_VERSIONS, MAX_PROFILES } from '../../../src/state/operating-points/profile-table.js';
import { someDetector } from '../../support/analyser-double.js';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { postForm } from '../../support/http-client.js';
import { detectors, genuine, startProfileServer } from '../../support/profile-server.js';
import { someProfile } from '../../support/stored-points.js';
import { StreamClient } from '../../support/stream-client.js';
import { API_KEY, OTHER_API_KEY, PREDICT_API_KEY } from '../../support/test-keys.js';
import { until } from '../../support/until.js';

const [small, medium] = detectors.map(({ id }) => id) as [string, string];
const channel = [...genuine(6), ...genuine(4, 'fine')];
const louder = [...genuine(6, 'strongly flagged'), ...genuine(4, 'fine')];
const { sha256: model_sha256, scoreFingerprint: fingerprint } = someDetector;
const stored = { ...someProfile, model: small, model_sha256, fingerprint };
/** Along it, the vectors of the tests lie beyond `to`. */
const shared = { ...stored, correction: { ...someProfile.correction, direction: axisOf(992) } };

function axisOf(numbers: number): string {
  const bytes = Buffer.alloc(4 * numbers);
  bytes.writeFloatLE(1, 0);
  return bytes.toString('base64');
}

test('a missing profile is 404 for every operation on it, and wrong parameters are refused', async (t) => {
  const server = await startProfileServer(t);
  assert.deepEqual((await server.call('GET', '/v1/profiles')).json, { profiles: [] });
  const asked = [
    await server.call('GET', '/v1/profiles/studio'),
    await server.call('DELETE', '/v1/profiles/studio'),
    await server.call('POST', '/v1/profiles/studio/use', { version: 1 }),
  ];
  for (const { status, headers } of asked)
    assert.deepEqual([status, headers['x-error-key']], [404, 'PROFILE_NOT_FOUND']);
  await server.make('studio', channel);
  const wrong = [
    await server.call('GET', '/v1/profiles/studio?model='),
    await server.call('POST', '/v1/profiles/studio/use', {}),
    await server.call('POST', '/v1/profiles/studio/use', { version: 0 }),
    await server.call('POST', '/v1/profiles/studio/use', { version: 1.5 }),
  ];
  for (const { headers, text } of wrong) assert.equal(headers['x-error-key'], 'FIELD_INVALID', text);
  assert.equal((await server.call('GET', `/v1/profiles/studio?model=${medium}`)).status, 404);
  assert.equal((await server.call('POST', '/v1/profiles/studio/use', { version: 2 })).status, 404);
});

test('an account neither sees, uses, changes nor deletes the profiles of another', async (t) => {
  const server = await startProfileServer(t);
  await server.make('studio', channel);
  // Another key of the account also has them.
  assert.equal((await server.call('GET', '/v1/profiles/studio', undefined, PREDICT_API_KEY)).status, 200);

  const foreign = (method: string, path: string, body?: object) =>
    server.call(method, path, body, OTHER_API_KEY);
  assert.deepEqual((await foreign('GET', '/v1/profiles')).json, { profiles: [] });
  for (const [method, path, body] of [
    ['GET', '/v1/profiles/studio'],
    ['DELETE', '/v1/profiles/studio'],
    ['POST', '/v1/profiles/studio/use', { version: 1 }],
  ] as const)
    assert.equal((await foreign(method, path, body)).status, 404);
  assert.equal(await server.scoreWith('studio', OTHER_API_KEY), undefined);

  // The same name is free for the other account, and means its own.
  assert.equal((await server.make('studio', louder, OTHER_API_KEY)).json.version, 1);
  assert.notEqual(await server.scoreWith('studio', OTHER_API_KEY), await server.scoreWith('studio'));
  assert.equal((await foreign('DELETE', '/v1/profiles/studio')).status, 200);
  assert.ok(((await server.scoreWith('studio')) as number) < 0.5);
});

test('no way to a verdict takes the profile of another account', async (t) => {
  const server = await startProfileServer(t, {}, [small, LARGE_FILE_MODEL]);
  await server.table.save({ ...stored, account: 'one', model: LARGE_FILE_MODEL });
  await server.make('studio', channel, API_KEY, small);
  const refusals = async (apiKey: string): Promise<string[]> => {
    const form = (file: Uint8Array | string) =>
      formBody([{ name: 'profile', content: 'studio' }, fileEntry(file)]);
    const headers = { 'x-api-key': apiKey };
    const json = { key: 'a', profile: 'studio', lines: undefined };
    const answers = [
      await postForm(server.port, '/v1/predict', form('flagged'), { headers }),
      await postForm(server.port, '/v1/predict/large-file', form(noise(5_000_000)), { headers }),
      await server.call('POST', '/v1/jobs', json, apiKey),
      await server.call('POST', '/v1/batches', json, apiKey),
    ];
    const stream = await StreamClient.open(server.port, {
      path: '/v1/stream?encoding=pcm16&sample_rate=16000&profile=studio',
      headers,
    });
    await until(() => stream.messages.length > 0);
    const [first] = stream.messages;
    stream.vanish();
    const problem = first?.type === 'error' ? first.message : '';
    return [...answers.map(({ json: { message = '' } }) => message), problem].filter((text) =>
      text.includes('for profile but received "studio"'),
    );
  };
  assert.equal((await refusals(OTHER_API_KEY)).length, 5);
  assert.deepEqual(await refusals(API_KEY), []);
});

test("the operator's profiles are for all to use, and for nobody to change; one of the account's own goes before", async (t) => {
  const server = await startProfileServer(t);
  await server.table.save(shared);
  await server.call('GET', '/v1/profiles');
  // So that this process knows it.
  await server.make('other', channel);
  const theirs = (await server.scoreWith('studio')) as number;
  assert.ok(theirs < 0.5, `${theirs}`);
  const [, listed] = (await server.call('GET', '/v1/profiles')).json.profiles;
  assert.deepEqual([listed.name, listed.shared, listed.usable], ['studio', true, true]);
  assert.equal((await server.call('DELETE', '/v1/profiles/studio')).status, 404);
  assert.equal((await server.call('POST', '/v1/profiles/studio/use', { version: 1 })).status, 404);

  assert.equal((await server.make('studio', channel)).status, 201);
  assert.equal((await server.call('GET', '/v1/profiles/studio')).json.shared, false);
  assert.notEqual(await server.scoreWith('studio'), theirs);
  assert.equal((await server.call('DELETE', '/v1/profiles/studio')).status, 200);
  assert.equal(await server.scoreWith('studio'), theirs);
});

test('an account goes back to an earlier version and forward again, and requests follow', async (t) => {
  const server = await startProfileServer(t);
  await server.make('studio', channel);
  const first = await server.scoreWith('studio');
  assert.equal((await server.make('studio', louder)).json.version, 2);
  const second = await server.scoreWith('studio');
  assert.notEqual(first, second);

  const back = await server.call('POST', '/v1/profiles/studio/use', { version: 1 });
  assert.deepEqual([back.status, back.json.version], [200, 1]);
  assert.equal(await server.scoreWith('studio'), first);
  const uses = back.json.versions.map(({ version, in_use }: Record<string, unknown>) => [version, in_use]);
  assert.deepEqual(uses, [
    [2, false],
    [1, true],
  ]);
  assert.deepEqual((await server.call('GET', '/v1/profiles/studio')).json, back.json);
  await server.call('POST', '/v1/profiles/studio/use', { version: 2, model: small });
  assert.equal(await server.scoreWith('studio'), second);
  assert.equal(server.acts.filter(({ event }) => event === 'profile_version_used').length, 2);

  for (let i = 0; i < MAX_PROFILE_VERSIONS; i++) await server.make('studio', channel);
  const { versions } = (await server.call('GET', '/v1/profiles/studio')).json;
  assert.deepEqual([versions.length, versions.at(-1).version], [MAX_PROFILE_VERSIONS, 3]);
});

test('a profile for several detectors is read and deleted for each, or for all', async (t) => {
  const server = await startProfileServer(t);
  for (const model of [small, medium]) await server.make('studio', channel, API_KEY, model);
  assert.equal((await server.call('GET', '/v1/profiles/studio')).json.model, small);
  assert.equal((await server.call('GET', `/v1/profiles/studio?model=${medium}`)).json.model, medium);
  const deleted = await server.call('DELETE', `/v1/profiles/studio?model=${medium}`);
  assert.deepEqual(deleted.json, { deleted: 'studio' });
  assert.equal((await server.call('GET', '/v1/profiles')).json.profiles.length, 1);
  await server.make('studio', channel, API_KEY, medium);
  await server.call('DELETE', '/v1/profiles/studio');
  assert.deepEqual((await server.call('GET', '/v1/profiles')).json, { profiles: [] });
  assert.equal(await server.scoreWith('studio'), undefined);
  assert.deepEqual(
    server.acts.filter(({ event }) => event === 'profile_removed').map(({ model }) => model),
    [medium, medium, small].toSorted(),
  );
});

test('a profile of other weights stays readable, and says that it cannot be used', async (t) => {
  const server = await startProfileServer(t);
  await server.table.save({ ...stored, account: 'one', fingerprint: '9'.repeat(64) });
  const { json } = await server.call('GET', '/v1/profiles/studio');
  assert.deepEqual([json.usable, json.versions[0].usable], [false, false]);
  assert.deepEqual(json.correction, stored.correction);
});

test('an account has a limited number of profiles, and renews those it has', async (t) => {
  const server = await startProfileServer(t);
  for (let i = 0; i < MAX_PROFILES; i++)
    await server.table.save({ ...stored, account: 'one', name: `p${i}` });
  const refused = await server.make('studio', channel);
  assert.equal(refused.headers['x-error-key'], 'TOO_MANY_PROFILES');
  assert.equal(server.analyser.requests.length, 0);
  assert.equal((await server.make('p0', channel)).json.version, 2);
  assert.equal((await server.make('studio', channel, OTHER_API_KEY)).status, 201);
});
