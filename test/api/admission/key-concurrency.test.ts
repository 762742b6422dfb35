// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyConcurrency } from '../../../src/api/admission/key-concurrency.js';
import { ServiceError } from '../../../src/base/errors/service-error.js';
import { eventually } from '../../support/eventually.js';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { holdAnalyses } from '../../support/held-analyses.js';
import { predict, predictHead, RawClient } from '../../support/http-client.js';
import { keysOf, withKey } from '../../support/keys.js';
import { startTestServer } from '../../support/test-server.js';

const body = formBody([fileEntry('x')]);

test('one request too many at once is 429, before any of its body is sent; other keys go on', async (t) => {
  const keys = keysOf(
    { id: 'a' },
    { id: 'b' },
    { id: 'wide', concurrency: 3 },
    { id: 'free', concurrency: 0 },
  );
  const server = await startTestServer(t, { keyConcurrency: 2 }, { keys });
  const { port, metric } = server;
  const held = holdAnalyses(server);
  const ask = (id: string) => predict(port, body, { headers: withKey(id) });
  const admitted = [ask('a'), ask('a'), ask('b'), ...Array.from({ length: 3 }, () => ask('wide'))];
  admitted.push(...Array.from({ length: 10 }, () => ask('free')));
  await held.running(admitted.length);

  const client = await RawClient.connect(port);
  await client.write(predictHead({ ...withKey('a'), 'content-length': 1_000_000 }));
  const refused = await client.until(/\}\r\n$/);
  client.socket.destroy();
  assert.match(refused, /^HTTP\/1\.1 429 Too Many Requests\r\n[\s\S]*\r\nretry-after: 1\r\n/);
  assert.match(
    refused,
    /"error":"rate_limited","message":"The API key has reached its limit of 2 requests in flight; /,
  );
  assert.equal((await ask('wide')).status, 429);
  assert.equal(await metric('veravox_errors_total{key="CONCURRENCY_LIMITED"}'), 2);
  assert.equal(await metric('veravox_errors_total{key="RATE_LIMITED"}'), 0);
  assert.equal(await metric('veravox_requests_in_flight'), admitted.length);

  const last = ask('b');
  held.finish();
  for (const { status } of await Promise.all([...admitted, last])) assert.equal(status, 200);
  assert.equal((await ask('a')).status, 200);
});

test('however a request ends, its place is free again, once', async (t) => {
  const keys = keysOf(
    { id: 'a', concurrency: 2 },
    { id: 'without-scope', concurrency: 2, scopes: new Set() },
  );
  const server = await startTestServer(t, { maxInflightRequests: 2 }, { keys });
  const { port, analyser, metric } = server;
  const headers = withKey('a');
  const { answer } = analyser;

  // The analyser fails, in expected and unexpected ways.
  for (const error of [new ServiceError('UNDECODABLE', { problem: 'x' }), new Error('broken')]) {
    analyser.answer = () => {
      throw error;
    };
    for (let round = 0; round < 3; round++) assert.ok((await predict(port, body, { headers })).status >= 422);
  }
  analyser.answer = answer;
  for (let round = 0; round < 3; round++) {
    assert.equal((await predict(port, formBody([]), { headers })).status, 400);
    assert.equal((await predict(port, formBody([fileEntry(noise(8 << 20))]), { headers })).status, 413);
    assert.equal((await predict(port, body, { headers: withKey('without-scope') })).status, 403);
    const leaving = await RawClient.connect(port);
    await leaving.write(predictHead({ ...headers, 'content-length': 1000 }));
    leaving.socket.destroy();
    const gone = 'veravox_http_requests_total{route="/v1/predict",status="499"}';
    await eventually(
      async () => (await metric(gone)) === round + 1,
      'the server noticed that the client left',
    );
  }

  // All places are free again, and not one more.
  const held = holdAnalyses(server);
  const admitted = [predict(port, body, { headers }), predict(port, body, { headers })];
  await held.running(2);
  assert.equal(await metric('veravox_requests_in_flight'), 2);
  assert.equal((await predict(port, body, { headers })).status, 429);
  held.finish();
  for (const { status } of await Promise.all(admitted)) assert.equal(status, 200);
  assert.equal(await metric('veravox_requests_in_flight'), 0);
});

test('a request that is answered twice inside, for a fault of our own, frees its place once', async (t) => {
  let faults = 0;
  const recorder = {
    record: () => {
      if (faults++ === 0) throw new Error('a fault of our own');
    },
    close: async () => {},
  };
  const server = await startTestServer(t, { keyConcurrency: 1 }, { recorders: [recorder] });
  assert.equal((await predict(server.port, body)).status, 200);
  const held = holdAnalyses(server);
  const admitted = predict(server.port, body);
  await held.running(1);
  assert.equal(await server.metric('veravox_requests_in_flight'), 1);
  assert.equal((await predict(server.port, body)).status, 429);
  held.finish();
  assert.equal((await admitted).status, 200);
});

test('a client that goes away keeps its place while its work is still going on', async (t) => {
  const server = await startTestServer(t, { keyConcurrency: 1 });
  const held = holdAnalyses(server);
  const client = await RawClient.connect(server.port);
  await client.write(Buffer.concat([Buffer.from(predictHead({ 'content-length': body.length })), body]));
  await held.running(1);
  client.socket.resetAndDestroy();
  await client.closed;
  assert.equal((await predict(server.port, body)).status, 429);
  held.finish();
  const inFlight = () => server.metric('veravox_requests_in_flight');
  await eventually(async () => (await inFlight()) === 0, 'the work has ended');
  assert.equal((await predict(server.port, body)).status, 200);
});

test('a request that the full server refuses takes no place of its key', async (t) => {
  const keys = keysOf({ id: 'a' }, { id: 'b', concurrency: 1 });
  const server = await startTestServer(t, { maxInflightRequests: 1 }, { keys });
  const held = holdAnalyses(server);
  const running = predict(server.port, body, { headers: withKey('a') });
  await held.running(1);
  for (let round = 0; round < 3; round++) {
    assert.equal((await predict(server.port, body, { headers: withKey('b') })).status, 503);
  }
  held.finish();
  await running;
  assert.equal((await predict(server.port, body, { headers: withKey('b') })).status, 200);
});

test('a key that gets its limit while it has requests in flight is counted right', () => {
  const concurrency = new KeyConcurrency(0);
  const key = { id: 'a', account: 'one', scopes: new Set<never>() };
  concurrency.enter(key);
  concurrency.enter(key);
  assert.throws(() => concurrency.enter({ ...key, concurrency: 2 }), { key: 'CONCURRENCY_LIMITED' });
  concurrency.leave('a');
  concurrency.enter({ ...key, concurrency: 2 });
  concurrency.leave('a');
  concurrency.leave('a');
  assert.equal(concurrency.inFlight('a'), 0);
});
