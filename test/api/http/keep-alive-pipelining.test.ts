// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { predict, predictHead, RawClient, request } from '../../support/http-client.js';
import { API_KEY, startTestServer } from '../../support/test-server.js';

const body = formBody([fileEntry(noise(1000))]);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('one connection serves many requests, good and bad', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const client = await RawClient.connect(port);
  const threshold = { name: 'threshold', content: '7' };
  const bad = formBody([threshold, fileEntry('x')]);
  for (let i = 0; i < 20; i++) {
    const [sent, status] = i % 3 === 1 ? [bad, 400] : [body, 200];
    client.received = '';
    await client.write(predictHead({ 'content-length': sent.length }));
    await client.write(sent);
    assert.match(
      await client.until(/\}$/),
      new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*"(prediction|correlation)_id"`),
    );
  }
  assert.equal(analyser.hashes.length, 13);
  assert.equal(new Set(analyser.hashes).size, 1);
  client.socket.destroy();
});

test('pipelined requests that are answered at once are answered in order', async (t) => {
  const { port } = await startTestServer(t);
  const client = await RawClient.connect(port);
  const requests = ['GET /livez', 'HEAD /livez', 'GET /nothing', 'OPTIONS /livez', 'GET /readyz'];
  await client.write(requests.map((line) => `${line} HTTP/1.1\r\nhost: a\r\n\r\n`).join(''));
  const answers = await client.until(/"state":.*\}$/);
  assert.deepEqual(answers.match(/HTTP\/1\.1 \d+/g), [
    'HTTP/1.1 200',
    'HTTP/1.1 200',
    'HTTP/1.1 404',
    'HTTP/1.1 204',
    'HTTP/1.1 200',
  ]);
  client.socket.destroy();
});

for (const [whose, line, key] of [
  ['without a key', 'HEAD /livez', ''],
  ['with a key', 'HEAD /v1/stream', `x-api-key: ${API_KEY}\r\n`],
] as const) {
  test(`of many pipelined HEAD requests ${whose}, those up to a last answer are answered`, async (t) => {
    const { port } = await startTestServer(t);
    const client = await RawClient.connect(port);
    // Fewer than a turn of the event loop answers.
    await client.write(`${line} HTTP/1.1\r\nhost: a\r\n${key}\r\n`.repeat(100));
    await client.closed;
    const answers = client.received.trimEnd().split('\r\n\r\n');
    assert.equal(answers.length, 65);
    const last = answers.pop() ?? '';
    for (const answer of answers)
      assert.match(answer, /^HTTP\/1\.1 (?:200|426) (?![\s\S]*connection: close)/);
    assert.match(last, /^HTTP\/1\.1 (?:200|426) [\s\S]*\r\nconnection: close$/);
    const other = await RawClient.connect(port, '127.0.0.2');
    await other.write('HEAD /livez HTTP/1.1\r\nhost: a\r\n\r\n');
    assert.doesNotMatch(await other.until(/\r\n\r\n$/), /connection: close/);
    other.socket.destroy();
    assert.equal((await request(port, '/livez')).status, 200);
  });
}

test('a request pipelined behind an analysis ends the connection: no answer goes to the wrong request', async (t) => {
  // uWebSockets.js does not queue requests behind an unanswered one. Clients may then repeat them (RFC 9112, 9.3.2).
  const { port, arena, analyser } = await startTestServer(t);
  const { answer } = analyser;
  analyser.answer = async (analysis) => {
    await client.closed;
    return answer(analysis);
  };
  const client = await RawClient.connect(port);
  const head = predictHead({ 'content-length': body.length });
  await client.write(
    Buffer.concat([Buffer.from(head), body, Buffer.from('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n')]),
  );
  await client.closed;
  assert.equal(client.received, '');
  analyser.answer = answer;
  assert.equal((await predict(port, body)).status, 200);
  assert.equal(arena.usedBytes, 0);
});

test('HEAD is GET without the body; OPTIONS and other methods name what there is', async (t) => {
  const { port } = await startTestServer(t);
  const get = await request(port, '/readyz');
  const head = await request(port, '/readyz', { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.headers['content-length'], String(get.text.length));
  assert.equal(head.text, '');

  const options = await request(port, '/v1/predict', { method: 'OPTIONS' });
  assert.equal(options.status, 204);
  assert.equal(options.headers.allow, 'POST, OPTIONS');

  for (const [path, method, allow] of [
    ['/v1/predict', 'GET', 'POST, OPTIONS'],
    ['/v1/predict', 'HEAD', 'POST, OPTIONS'],
    ['/readyz', 'DELETE', 'GET, HEAD, OPTIONS'],
  ] as const) {
    const answer = await request(port, path, { method });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers.allow, allow);
  }
  const unknown = await request(port, '/v1/predictions', {
    method: 'POST',
    headers: { 'x-api-key': API_KEY },
  });
  assert.equal(unknown.status, 404);
  assert.equal(unknown.json.error, 'not_found');
});

test('every response has a correlation id: the caller’s, if it is a UUID, or a new one', async (t) => {
  const { port } = await startTestServer(t);
  const own = 'A1B2C3D4-E5F6-7890-ABCD-EF1234567890';
  const send = (path: string, id?: string) =>
    request(port, path, { headers: id === undefined ? {} : { 'X-Correlation-ID': id } });
  for (const path of ['/livez', '/metrics', '/nothing', '/v1/predict']) {
    assert.match(String((await send(path)).headers['x-correlation-id']), UUID);
    assert.match(String((await send(path, 'not-a-uuid')).headers['x-correlation-id']), UUID);
    assert.equal((await send(path, own)).headers['x-correlation-id'], own.toLowerCase());
  }
  const { headers, json } = await send('/nothing');
  assert.equal(json.correlation_id, headers['x-correlation-id']);
});
