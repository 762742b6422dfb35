// SPDX-License-Identifier: Apache-2.0
//
// A file uploaded with the entity `analysis` is analysed automatically; its result is the file of the same key with the
// entity `results`. The analyses are doubles.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RecordingStep } from '../../src/analysis/analyser/recording.js';
import { eventually } from '../support/eventually.js';
import { type JobServer, startJobServer } from '../support/job-server.js';
import { KEY_WITHOUT_SCOPE } from '../support/test-keys.js';

const FILE = Buffer.from('any bytes');

async function resultOf(server: JobServer, key: string) {
  let link: string | undefined;
  await eventually(async () => {
    const query = `key_prefix=${encodeURIComponent(key)}&entity=results`;
    const { json } = await server.call('GET', `/v1/file?${query}`);
    link = json.url[0]?.value;
    return link !== undefined;
  }, 'there is a result');
  const answer = await fetch(link ?? '');
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary members of what the server sent
  return (await answer.json()) as any;
}

const jobsOf = async (server: JobServer) => (await server.call('GET', '/v1/jobs')).json.jobs;

const all = (t: TestContext, more = {}) => startJobServer(t, { analyseUploads: 'all', ...more });

test('the result of an upload is a file of the same key', async (t) => {
  const server = await all(t);
  await server.store('calls/day 1.wav', FILE);
  const result = await resultOf(server, 'calls/day 1.wav');
  const [{ id }] = await jobsOf(server);
  await eventually(
    async () => (await server.call('GET', `/v1/jobs/${id}`)).json.state === 'succeeded',
    'the job ends',
  );
  assert.deepEqual(result, (await server.call('GET', `/v1/jobs/${id}`)).json.result);
  assert.equal(result.global.result, 'spoofed');
});

test('the result of a file that cannot be analysed is the error', async (t) => {
  const server = await all(t, { maxJobBytes: 1024 });
  await server.store('large.wav', Buffer.alloc(2000));
  const { error, message, status, correlation_id } = await resultOf(server, 'large.wav');
  const [{ id }] = await jobsOf(server);
  assert.deepEqual([error, status, correlation_id], ['payload_too_large', 413, id]);
  assert.match(message, /1024 bytes/);
});

test('only uploads with that entity are analysed, and by default only those of 100 MB', async (t) => {
  const server = await all(t);
  await server.store('a.wav', FILE, 'other');
  assert.deepEqual(await jobsOf(server), []);
  const byDefault = await startJobServer(t);
  await byDefault.store('a.wav', FILE);
  assert.deepEqual(await jobsOf(byDefault), []);
  const off = await startJobServer(t, { analyseUploads: 'off' });
  await off.store('a.wav', FILE);
  assert.deepEqual(await jobsOf(off), []);
});

test('a file of 100 MB is analysed by default', async (t) => {
  const server = await startJobServer(t);
  let bytes = 0;
  const { recordingSteps } = server.analyser;
  server.analyser.recordingSteps = (request): AsyncGenerator<RecordingStep, void, void> => {
    bytes = request.source.bytes;
    return recordingSteps(request);
  };
  await server.store('long.wav', Buffer.alloc(100_000_000));
  await resultOf(server, 'long.wav');
  assert.equal(bytes, 100_000_000);
});

test('links do not show whose they are, and an altered owner is refused', async (t) => {
  const server = await all(t);
  const ask = () => server.call('POST', '/v1/file', { keys: ['a'], entity: 'analysis' });
  const link = new URL((await ask()).json.url[0].value);
  const owner = link.searchParams.get('x-veravox-owner') ?? assert.fail('no owner');
  assert.doesNotMatch(Buffer.from(owner, 'base64url').toString('latin1'), /key-1|one/);
  assert.notEqual(new URL((await ask()).json.url[0].value).searchParams.get('x-veravox-owner'), owner);
  link.searchParams.set('x-veravox-owner', `${owner.slice(0, -2)}AA`);
  assert.equal((await fetch(link, { method: 'PUT', body: 'x' })).status, 403);
  link.searchParams.delete('x-veravox-owner');
  assert.equal((await fetch(link, { method: 'PUT', body: 'x' })).status, 403);
  assert.deepEqual(await jobsOf(server), []);
  assert.equal((await server.call('GET', '/v1/jobs', undefined, KEY_WITHOUT_SCOPE)).status, 403);
});

test('an upload beyond the limit of jobs is stored, and its sender is told to wait', async (t) => {
  const server = await all(t, { jobWorkers: 0, accountMaxJobs: 1 });
  await server.store('a', FILE);
  const { json } = await server.call('POST', '/v1/file', { keys: ['b'], entity: 'analysis' });
  const put = () => fetch(json.url[0].value, { method: 'PUT', body: FILE });
  const refused = await put();
  assert.equal(refused.status, 429, await refused.text());
  const [{ id }] = await jobsOf(server);
  await server.call('DELETE', `/v1/jobs/${id}`);
  assert.equal((await put()).status, 200);
  assert.equal((await jobsOf(server)).length, 2);
});
