// SPDX-License-Identifier: Apache-2.0
//
// The dashboard and predictions do not keep each other out.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addUser, signIn } from '../support/admin.js';
import { eventually } from '../support/eventually.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { holdAnalyses } from '../support/held-analyses.js';
import { predict, RawClient, request } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { ADMIN_API_KEY, API_KEY } from '../support/test-keys.js';

const body = formBody([fileEntry('x')]);

async function follow(t: TestContext, origin: string, path: string, apiKey: string): Promise<number> {
  const ending = new AbortController();
  t.after(() => ending.abort());
  const headers = { 'x-api-key': apiKey };
  const response = await fetch(`${origin}${path}`, { headers, signal: ending.signal });
  // A response without a reference is closed by garbage collection.
  t.after(() => response.body?.cancel().catch(() => {}));
  return response.status;
}

test('a server that is full of predictions still serves its dashboard', async (t) => {
  const server = await startJobServer(t, { maxInflightRequests: 2 });
  await addUser(server.database, 'admin');
  const operator = await signIn(server.port, 'admin');
  const held = holdAnalyses(server);
  const admitted = [predict(server.port, body), predict(server.port, body)];
  await held.running(2);
  assert.equal((await predict(server.port, body)).status, 503);
  for (const path of ['/v1/admin/health', '/v1/admin/keys', '/v1/admin/session']) {
    const { status, text } = await operator.call('GET', path);
    assert.equal(status, 200, `${path}: ${text}`);
  }
  held.finish();
  for (const { status } of await Promise.all(admitted)) assert.equal(status, 200);
});

test('a dashboard that is busy takes no permit of predictions, and is refused at its own limit', async (t) => {
  const server = await startJobServer(t, { maxInflightRequests: 2 });
  const headers = { 'x-api-key': ADMIN_API_KEY };
  const ask = () => request(server.port, '/v1/admin/keys', { headers });
  const slow = await Promise.all(Array.from({ length: 64 }, () => RawClient.connect(server.port)));
  const head = `POST /v1/admin/keys HTTP/1.1\r\nhost: x\r\nx-api-key: ${ADMIN_API_KEY}\r\ncontent-type: application/json\r\n`;
  for (const client of slow) await client.write(`${head}content-length: 99\r\n\r\n`);
  await eventually(async () => (await ask()).status === 503, 'no permit is left');
  const refused = await ask();
  assert.match(refused.text, /64 requests to the admin API in flight/);
  assert.match(String(refused.headers['retry-after']), /^\d+$/);
  assert.equal(await server.metric('veravox_requests_in_flight'), 0);
  assert.equal((await predict(server.port, body)).status, 200);
  const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') };
  assert.equal((await request(server.port, '/v1/admin/session', asked)).status, 400, 'sign-ins go on');
  for (const { socket } of slow) socket.destroy();
  await eventually(async () => (await ask()).status === 200, 'permits are free again');
});

test('programs that follow jobs leave room for the pages of operators', async (t) => {
  const { origin, call, metric, store } = await startJobServer(t, { jobWorkers: 0, maxEventStreams: 1 });
  await store('a', Buffer.from('any bytes'));
  const { json } = await call('POST', '/v1/jobs', { key: 'a' });
  const path = `/v1/jobs/${json.id}/events`;
  assert.equal(await follow(t, origin, path, API_KEY), 200);
  assert.equal(await follow(t, origin, path, API_KEY), 503);
  for (const own of ['/v1/admin/jobs/events', `/v1/admin/jobs/${json.id}/events`]) {
    assert.equal(await follow(t, origin, own, ADMIN_API_KEY), 200, own);
  }
  assert.equal(await metric('veravox_event_streams'), 3);
});
