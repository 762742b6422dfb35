// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { SessionTable } from '../../src/console/users/session-table.js';
import { addUser, signIn } from '../support/admin.js';
import { fileEntry, formBody, noise } from '../support/form-body.js';
import { predict } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { authenticatorOf } from '../support/keys.js';
import { ADMIN_API_KEY, testKeys } from '../support/test-keys.js';
import { undisturbedTime } from '../support/undisturbed.js';

test('slow sign-ins without a key leave the permits of requests with one alone', async (t) => {
  const { port } = await startJobServer(t, { maxInflightRequests: 3 });
  const head =
    'POST /v1/admin/session HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n';
  const sockets = Array.from({ length: 10 }, () => net.connect(port, '127.0.0.1'));
  // Answered when the server has read the head and waits for the body.
  const begun = sockets.map(
    (socket) =>
      new Promise<string>((resolve, reject) => {
        socket.once('data', (bytes) => resolve(String(bytes)));
        socket.once('error', reject);
        socket.write(`${head}expect: 100-continue\r\n\r\n`);
      }),
  );
  for (const answer of await Promise.all(begun)) assert.match(answer, /^HTTP\/1\.1 100 /);
  assert.equal((await predict(port, formBody([fileEntry(noise(1000))]))).status, 200);
  for (const socket of sockets) socket.destroy();
});

test('a stream of jobs has a new one soon, also if nobody works', async (t) => {
  const { origin, call, store } = await startJobServer(t, { jobWorkers: 0 });
  for (const key of ['a', 'b']) await store(key, Buffer.from('any bytes'));
  const took = undisturbedTime();
  const answer = await fetch(`${origin}/v1/admin/jobs/events`, { headers: { 'x-api-key': ADMIN_API_KEY } });
  const reader = answer.body?.getReader() ?? assert.fail('it has a body');
  const read = async () => Buffer.from((await reader.read()).value ?? []).toString();
  assert.match(await read(), /"jobs":\[\]/);
  // A database's first follower looks once for changes that it may have missed.
  const { json } = await call('POST', '/v1/jobs', { key: 'a' });
  assert.ok((await read()).includes(json.id));
  const second = await call('POST', '/v1/jobs', { key: 'b' });
  assert.ok((await read()).includes(second.json.id));
  assert.ok(took() < 15_000, 'before the stream says that it is still there');
  await reader.cancel();
});

test('a stream of jobs ends with the key that asked for it, or with its scope', async (t) => {
  const keys = new Map(testKeys);
  const key = testKeys.get(ADMIN_API_KEY) ?? assert.fail('there is such a key');
  const { origin, call, store } = await startJobServer(t, { jobWorkers: 0 }, { keys: authenticatorOf(keys) });
  const endings = {
    a: () => keys.delete(ADMIN_API_KEY),
    b: () => keys.set(ADMIN_API_KEY, { ...key, scopes: new Set(['file']) }),
  };
  for (const [name, end] of Object.entries(endings)) {
    await store(name, Buffer.from('any bytes'));
    keys.set(ADMIN_API_KEY, key);
    const answer = await fetch(`${origin}/v1/admin/jobs/events`, { headers: { 'x-api-key': ADMIN_API_KEY } });
    const reader = answer.body?.getReader() ?? assert.fail('it has a body');
    assert.match(Buffer.from((await reader.read()).value ?? []).toString(), /^retry: 2000\nevent: jobs/);
    end();
    assert.equal((await call('POST', '/v1/jobs', { key: name })).status, 202);
    assert.equal((await reader.read()).done, true, 'it ends without the new job');
  }
});

test('a stream of jobs ends with the session, also if nobody else asks anything', async (t) => {
  const { port, database, origin, call, store } = await startJobServer(t, { jobWorkers: 0 });
  await store('a', Buffer.from('any bytes'));
  const user = await addUser(database, 'admin');
  const { cookie } = await signIn(port, 'admin');
  const answer = await fetch(`${origin}/v1/admin/jobs/events`, { headers: { cookie } });
  const reader = answer.body?.getReader() ?? assert.fail('it has a body');
  assert.match(Buffer.from((await reader.read()).value ?? []).toString(), /^retry: 2000\nevent: jobs/);
  await new SessionTable(database).endAllOf(user.id);
  // With a key: no query for the session.
  assert.equal((await call('POST', '/v1/jobs', { key: 'a' })).status, 202);
  assert.equal((await reader.read()).done, true, 'it ends without the new job');
});
