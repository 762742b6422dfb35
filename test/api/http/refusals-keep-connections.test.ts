// SPDX-License-Identifier: Apache-2.0
//
// A flood of refused requests must not also become a flood of new connections.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { holdAnalyses } from '../../support/held-analyses.js';
import { predict, predictHead, RawClient } from '../../support/http-client.js';
import { startTestServer } from '../../support/test-server.js';

test('a refused request whose small body comes along leaves its connection open', async (t) => {
  const server = await startTestServer(t, { maxInflightRequests: 1 });
  const held = holdAnalyses(server);
  const admitted = predict(server.port, formBody([fileEntry('x')]));
  await held.running(1);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const sockets = new Set<unknown>();
  agent.on('free', (socket) => sockets.add(socket));
  const file = formBody([fileEntry(noise(20_000))]);
  for (let i = 0; i < 20; i++) {
    const refused = await predict(server.port, file, { agent });
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.connection, undefined);
  }
  held.finish();
  assert.equal((await admitted).status, 200);
  assert.equal((await predict(server.port, file, { agent })).status, 200);
  assert.equal(sockets.size, 1);
});

test('one whose body does not come is answered all the same, and its connection ends with the body', async (t) => {
  const server = await startTestServer(t, { maxInflightRequests: 1 });
  const held = holdAnalyses(server);
  const admitted = predict(server.port, formBody([fileEntry('x')]));
  await held.running(1);
  for (const [declaredBytes, first] of [
    [1000, ''],
    [1000, 'x'.repeat(999)],
    [1_000_000, ''],
  ] as const) {
    const client = await RawClient.connect(server.port);
    await client.write(predictHead({ 'content-length': declaredBytes }) + first);
    const answer = await client.until(/\}\r\n$/);
    assert.match(answer, /^HTTP\/1\.1 503 [\s\S]*\r\nconnection: close\r\n/);
    await client.write('x'.repeat(declaredBytes - first.length));
    await client.closed;
    assert.equal(client.received.match(/HTTP\/1\.1 /g)?.length, 1);
  }
  held.finish();
  assert.equal((await admitted).status, 200);
});

test('a client that leaves in the moment in between is no harm', async (t) => {
  const server = await startTestServer(t, { maxInflightRequests: 1 });
  const held = holdAnalyses(server);
  const admitted = predict(server.port, formBody([fileEntry('x')]));
  await held.running(1);
  for (let i = 0; i < 50; i++) {
    const client = await RawClient.connect(server.port);
    await client.write(predictHead({ 'content-length': 1000 }));
    if (i % 2 === 0) client.socket.destroy();
    else client.socket.resetAndDestroy();
  }
  assert.equal((await predict(server.port, formBody([fileEntry('x')]))).status, 503);
  held.finish();
  assert.equal((await admitted).status, 200);
});
