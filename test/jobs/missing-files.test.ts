// SPDX-License-Identifier: Apache-2.0
//
// Jobs and batches on missing files are refused at once. Lines of batches fail one by one, in jobs/batches.test.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.js';
import { type JobServer, startJobServer } from '../support/job-server.js';
import { startSilentHttp } from '../support/silent-peers.js';

const FILE = Buffer.from('any bytes');

process.env.AWS_ACCESS_KEY_ID = 'an-id';
process.env.AWS_SECRET_ACCESS_KEY = 'a-secret';

async function refusals(server: JobServer, body: object): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const [path, more] of [
    ['/v1/jobs', {}],
    ['/v1/jobs', { task: 'enroll' }],
    ['/v1/batches', {}],
  ] as const) {
    const { status, headers } = await server.call('POST', path, { ...more, ...body });
    answers.push([status, headers['x-error-key']]);
  }
  return answers;
}

const remove = async (server: JobServer, key: string): Promise<void> => {
  assert.equal((await server.call('DELETE', `/v1/file?key=${key}&entity=analysis`)).status, 200);
};

test('a file that was never stored, was deleted, or is of another entity is 404, and makes no job', async (t) => {
  const server = await startJobServer(t, { jobWorkers: 0 });
  const link = await server.store('deleted', FILE);
  await remove(server, 'deleted');
  await server.store('other', FILE, 'results');
  for (const body of [{ key: 'none' }, { key: 'deleted' }, { presigned_url: link }, { key: 'other' }]) {
    const expected = [404, 'OBJECT_NOT_FOUND'];
    assert.deepEqual(await refusals(server, body), [expected, expected, expected], JSON.stringify(body));
  }
  assert.deepEqual((await server.call('GET', '/v1/jobs')).json.jobs, []);
});

test('a repeated request finds its job although the file is gone by now', async (t) => {
  const server = await startJobServer(t);
  await server.store('a', FILE);
  const body = { key: 'a', idempotency_key: 'day-4711' };
  const { json } = await server.call('POST', '/v1/jobs', body);
  const job = `/v1/jobs/${json.id}`;
  await eventually(async () => (await server.call('GET', job)).json.state === 'succeeded', 'the job ends');
  await remove(server, 'a');
  const again = await server.call('POST', '/v1/jobs', body);
  assert.deepEqual([again.status, again.json.id, again.json.state], [202, json.id, 'succeeded']);
  const other = await server.call('POST', '/v1/jobs', { ...body, threshold: 0.9 });
  assert.deepEqual([other.status, other.headers['x-error-key']], [400, 'IDEMPOTENCY_KEY_REUSED']);
});

test('a storage that does not answer is 503 by its deadline, and keeps nobody else waiting', async (t) => {
  const storage = await startSilentHttp(t, 'silent');
  const bucket = { storageBucket: 'files', storageEndpoint: storage.origin, storageSecret: 's'.repeat(32) };
  const server = await startJobServer(t, { ...bucket, fetchStallTimeoutMs: 500, jobWorkers: 0 });
  let isAnswered = false;
  const asked = refusals(server, { key: 'a' }).finally(() => {
    isAnswered = true;
  });
  await eventually(async () => storage.held() > 0, 'the storage is asked');
  assert.equal((await server.call('GET', '/v1/jobs')).status, 200);
  assert.equal(isAnswered, false);
  const expected = [503, 'STORAGE_UNAVAILABLE'];
  assert.deepEqual(await asked, [expected, expected, expected]);
});
