// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import http from 'node:http';
import { type TestContext, test } from 'node:test';
import { RequestPermits } from '../../../src/api/admission/request-permits.js';
import { eventually } from '../../support/eventually.js';
import { follow, s3Code, uploadLink } from '../../support/file-links.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { holdAnalyses } from '../../support/held-analyses.js';
import { type Answer, predict, predictHead, RawClient, request } from '../../support/http-client.js';
import { keysOf, withKey } from '../../support/keys.js';
import { API_KEY, OTHER_API_KEY, startTestServer, type TestServer } from '../../support/test-server.js';

const body = formBody([fileEntry('x')]);

/** Opens slow clients until the server refuses one; resolves with the number it held then. */
async function fillWith(
  server: TestServer,
  gauge: string,
  connect: () => Promise<RawClient>,
  t: TestContext,
): Promise<number> {
  let held = 0;
  for (;;) {
    const client = await connect();
    t.after(() => client.socket.destroy());
    let isRefused = false;
    await eventually(async () => {
      isRefused = /^HTTP\/1\.1 (503|429) /.test(client.received);
      return isRefused || (await server.metric(gauge)) === held + 1;
    }, 'a slow client is admitted or refused');
    if (isRefused) return held;
    held++;
  }
}

async function slowPut(link: string, localAddress = '127.0.0.1'): Promise<RawClient> {
  const { port, host, pathname, search } = new URL(link);
  const client = await RawClient.connect(Number(port), localAddress);
  await client.write(
    `PUT ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 1000000\r\n\r\nx`,
  );
  return client;
}

test('one link with slow uploads takes no permit of the API, and only its share of the transfers', async (t) => {
  // However long this takes, no body is cut off for slowness.
  t.mock.timers.enable({ apis: ['setInterval'] });
  const server = await startTestServer(t, {
    maxInflightRequests: 4,
    maxTransfers: 16,
    keySharePercent: 50,
  });
  const link = await uploadLink(server, 'a');
  const othersLink = await uploadLink(server, 'a', { apiKey: OTHER_API_KEY });
  const held = await fillWith(server, 'veravox_transfers_in_flight', () => slowPut(link), t);
  assert.equal(held, 8);
  const refused = await follow(link, { method: 'PUT', body: Buffer.from('x') });
  assert.equal(refused.status, 503);
  assert.equal(s3Code(refused), 'SlowDown');
  assert.match(refused.text, /8 transfers of one account/);
  assert.match(refused.headers['retry-after'] ?? '', /^\d+$/);
  assert.equal((await follow(othersLink, { method: 'PUT', body: Buffer.from('x') })).status, 200);
  assert.equal(await server.metric('veravox_requests_in_flight'), 0);
  assert.equal((await predict(server.port, body)).status, 200);
  for (const path of ['/livez', '/readyz', '/metrics']) {
    assert.equal((await request(server.port, path)).status, 200);
  }
});

test('links that nobody has signed take transfers of their address only', async (t) => {
  // However long this takes, no body is cut off for slowness.
  t.mock.timers.enable({ apis: ['setInterval'] });
  const server = await startTestServer(t, { maxTransfers: 20, addressSharePercent: 50 });
  const link = await uploadLink(server, 'a');
  // Not yet refused for their signature, which is checked after the permit is granted.
  const held = await fillWith(server, 'veravox_transfers_in_flight', () => slowPut(link), t);
  assert.equal(held, 10);
  const other = await slowPut(link, '127.0.0.9');
  t.after(() => other.socket.destroy());
  await eventually(
    async () => (await server.metric('veravox_transfers_in_flight')) === 11,
    'another address gets in',
  );
});

test('one key never holds more than its share of the requests; another key gets in beside it', async (t) => {
  const keys = keysOf({ id: 'greedy' }, { id: 'wide', concurrency: 0 }, { id: 'b' });
  const server = await startTestServer(t, { maxInflightRequests: 16, keySharePercent: 50 }, { keys });
  const held = holdAnalyses(server);
  const ask = (id: string) => predict(server.port, body, { headers: withKey(id) });
  for (const [id, share] of [
    ['greedy', 8],
    ['wide', 4],
  ] as const) {
    const before = server.analyser.running;
    const admitted = Array.from({ length: share }, () => ask(id));
    t.after(() => Promise.all(admitted));
    await held.running(before + share);
    const refused = await held.refusal(ask(id));
    assert.equal(refused.status, 429);
    assert.match(refused.json.message, new RegExp(`has reached its limit of ${share} requests in flight`));
    assert.ok(refused.headers['retry-after'] !== undefined);
  }
  const admitted = ask('b');
  await held.running(13);
  for (const path of ['/livez', '/readyz', '/metrics']) {
    assert.equal((await request(server.port, path)).status, 200);
  }
  held.finish();
  assert.equal((await admitted).status, 200);
  assert.equal((await ask('greedy')).status, 200);
});

/** Like `predict`, from a given address. */
function predictFrom(server: TestServer, localAddress: string): Promise<Pick<Answer, 'status' | 'text'>> {
  return new Promise((resolve, reject) => {
    const headers = {
      'x-api-key': API_KEY,
      'content-type': 'multipart/form-data; boundary=the-boundary',
      'content-length': body.length,
    };
    const { port } = server;
    const options = { host: '127.0.0.1', port, path: '/v1/predict', method: 'POST', headers, localAddress };
    const outgoing = http.request({ ...options, agent: false }, (incoming) => {
      let text = '';
      incoming.on('data', (chunk) => {
        text += chunk;
      });
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

test('one address never holds more than its share, whatever keys it has; another address gets in', async (t) => {
  const server = await startTestServer(t, { maxInflightRequests: 10, addressSharePercent: 80 });
  const held = holdAnalyses(server);
  const admitted = Array.from({ length: 8 }, () => predictFrom(server, '127.0.0.1'));
  await held.running(8);
  const refused = await held.refusal(predictFrom(server, '127.0.0.1'));
  assert.equal(refused.status, 503);
  assert.match(refused.text, /8 requests in flight of one address/);
  admitted.push(predictFrom(server, '127.0.0.7'));
  await held.running(9);
  held.finish();
  for (const { status } of await Promise.all(admitted)) assert.equal(status, 200);
});

test('a request that would have to wait too long is refused before its body is read', async (t) => {
  const server = await startTestServer(t, { maxWaitMs: 200, scoringThreads: 2 });
  const held = holdAnalyses(server);
  // Nothing is measured yet: eight requests, at the initial guess of 25 ms.
  const admitted = Array.from({ length: 8 }, () => predict(server.port, body));
  await held.running(8);
  const client = await RawClient.connect(server.port);
  t.after(() => client.socket.destroy());
  await client.write(predictHead({ 'content-length': 1_000_000 }));
  const refused = await client.until(/\}\r\n$/);
  assert.match(refused, /^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: 1\r\n/);
  assert.match(refused, /at its limit of 200 ms of waiting/);
  assert.equal(await server.metric('veravox_expected_wait_seconds'), 0.2);
  // A key with nothing in the queue is still admitted.
  admitted.push(predict(server.port, body, { headers: { 'x-api-key': OTHER_API_KEY } }));
  await held.running(9);
  held.finish();
  for (const { status } of await Promise.all(admitted)) assert.equal(status, 200);
  assert.equal(await server.metric('veravox_expected_wait_seconds'), 0);
  assert.equal((await predict(server.port, body)).status, 200);
});

test('a permit counts toward the account, and is given back for everybody that it counted for', () => {
  const permits = new RequestPermits(10, { percents: { account: 20, address: 50 } });
  const first = permits.acquire({ address: 'here' });
  first.holdFor('one');
  const second = permits.acquire({ address: 'here' });
  second.holdFor('one');
  const third = permits.acquire({ address: 'here' });
  assert.throws(() => third.holdFor('one'), { key: 'OVERLOADED' });
  third.release();
  first.release();
  permits.acquire({ address: 'there' }).holdFor('one');
  second.release();
  assert.equal(permits.inUse, 1);
});
