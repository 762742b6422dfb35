// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from '../../src/state/database/database.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict, predictHead, RawClient } from '../support/http-client.js';
import { API_KEY, KEY_WITHOUT_SCOPE, startTestServer, testAuthenticator } from '../support/test-server.js';

const body = formBody([fileEntry('x')]);

test('a missing, empty or unknown key is 401, before any of the body is read', async (t) => {
  const { port, analyser, metric } = await startTestServer(t);
  for (const key of ['', 'wrong', `${API_KEY}x`, API_KEY.slice(1)]) {
    const client = await RawClient.connect(port);
    await client.write(predictHead({ 'x-api-key': key, 'content-length': 1000 }));
    const answer = await client.until(/\}\r\n$/);
    assert.match(answer, /^HTTP\/1\.1 401 Unauthorized\r\n/);
    assert.match(answer, /"error":"unauthorized"/);
    client.socket.destroy();
  }
  const missing = await RawClient.connect(port);
  await missing.write('POST /v1/predict HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n');
  await missing.until(/^HTTP\/1\.1 401 [\s\S]*\}\r\n$/);
  missing.socket.destroy();
  assert.equal(analyser.requests.length, 0);
  assert.equal(await metric('veravox_errors_total{key="UNAUTHORIZED"}'), 5);
});

test('a key that the database cannot tell about is 503, and the connection serves further requests', async (t) => {
  const held = new DatabaseError('busy', 'SQLITE_BUSY', 'Another process has held it for too long.');
  const keys = {
    ...testAuthenticator,
    lookUp: (presented: string) => (presented === 'new' ? Promise.reject(held) : undefined),
  };
  const { port, log, analyser } = await startTestServer(t, {}, { keys });
  const client = await RawClient.connect(port);
  await client.write(predictHead({ 'x-api-key': 'new', 'content-length': body.length }));
  await client.write(body);
  const refused = await client.until(/\}\r?\n?$/);
  assert.match(refused, /^HTTP\/1\.1 503 /);
  assert.match(refused, /^x-error-key: DATABASE_UNAVAILABLE\r$/m);
  assert.match(refused, /^retry-after: 5\r$/m);
  assert.equal(analyser.requests.length, 0);
  await client.write(predictHead({ 'content-length': body.length }));
  await client.write(body);
  await client.until(/HTTP\/1\.1 200 [\s\S]*\}$/);
  client.socket.destroy();
  assert.ok(log.some((line) => line.status === 503 && JSON.stringify(line).includes(held.message)));
});

test('a key without the scope is 403', async (t) => {
  const { port } = await startTestServer(t);
  const answer = await predict(port, body, { headers: { 'x-api-key': KEY_WITHOUT_SCOPE } });
  assert.equal(answer.status, 403);
  assert.equal(answer.json.error, 'forbidden');
  assert.match(answer.json.message, /scope predict/);
});

test('the header’s name is taken in any case, and the log names the key but never shows it', async (t) => {
  const { port, log } = await startTestServer(t);
  for (const name of ['x-api-key', 'X-Api-Key', 'X-API-KEY']) {
    const client = await RawClient.connect(port);
    const head = predictHead({ 'content-length': body.length }).replace('x-api-key', name);
    await client.write(head);
    await client.write(body);
    await client.until(/^HTTP\/1\.1 200 [\s\S]*\}$/);
    client.socket.destroy();
  }
  assert.equal(log.filter((line) => line.keyId === 'key-1').length, 3);
  assert.ok(!JSON.stringify(log).includes(API_KEY));
});
