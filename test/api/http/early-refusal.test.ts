// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import http from 'node:http';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { predict, predictHead, RawClient, request } from '../../support/http-client.js';
import { API_KEY, startTestServer } from '../../support/test-server.js';

const MEBIBYTE = 1 << 20;
const tooLarge = formBody([fileEntry(noise(64 * MEBIBYTE))]);

test('a declared size over the limit is refused before any of the body is sent', async (t) => {
  const { port, arena } = await startTestServer(t);
  const client = await RawClient.connect(port);
  await client.write(predictHead({ 'content-length': 100 * MEBIBYTE }));
  const answer = await client.until(/\r\n\r\n\{.*\}/);
  assert.match(answer, /^HTTP\/1\.1 413 Payload Too Large\r\n/);
  assert.match(answer, /\r\nconnection: close\r\n/i);
  assert.match(answer, /exceeds the limit of 5242880 bytes\. POST \/v1\/predict\/large-file/);
  assert.equal(arena.usedBytes, 0);
  client.socket.destroy();
});

test('the answer has the length that it declares', async (t) => {
  const { port } = await startTestServer(t);
  const client = await RawClient.connect(port);
  await client.write(predictHead({ 'content-length': 100 * MEBIBYTE }));
  const answer = await client.until(/\}\r\n$/);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  assert.equal(Number(/content-length: (\d+)/i.exec(head)?.[1]), body.length);
  assert.equal(head.match(/^(content-length|transfer-encoding):/gim)?.length, 1);
  client.socket.destroy();
});

test('a refused client that neither sends the rest nor leaves is cut off after a while', async (t) => {
  const { port } = await startTestServer(t);
  const client = await RawClient.connect(port);
  const askedMs = performance.now();
  await client.write(predictHead({ 'content-length': 100 * MEBIBYTE }));
  await client.until(/\}\r\n$/);
  await client.closed;
  assert.ok(performance.now() - askedMs > 3000);
});

test('a chunked body is refused as soon as the file is over the limit', async (t) => {
  const { port, arena } = await startTestServer(t, { maxPredictBytes: 100_000 });
  const client = await RawClient.connect(port);
  await client.write(predictHead({ 'transfer-encoding': 'chunked' }));
  const body = formBody([fileEntry(noise(200_000))]).subarray(0, 150_000);
  await client.write(`${body.length.toString(16)}\r\n`);
  await client.write(body);
  assert.match(await client.until(/\}\r\n$/), /^HTTP\/1\.1 413 /);
  assert.equal(arena.usedBytes, 0);
  client.socket.destroy();
});

test('a client that goes on sending gets to read the refusal, with or without keep-alive', async (t) => {
  const { port, arena } = await startTestServer(t);
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  for (let round = 0; round < 10; round++) {
    for (const headers of [{ connection: 'close' }, { connection: 'keep-alive' }]) {
      const answer = await predict(port, tooLarge, { headers, agent });
      assert.equal(answer.status, 413);
      assert.equal(answer.json.error, 'payload_too_large');
    }
  }
  assert.equal(arena.usedBytes, 0);
});

test('a wrong key, an unknown path and another method are refused while the body is being sent', async (t) => {
  const { port } = await startTestServer(t);
  const cases: [path: string, method: string, key: string, status: number][] = [
    ['/v1/predict', 'POST', 'wrong', 401],
    ['/v1/predict', 'PUT', API_KEY, 405],
    ['/v1/nothing', 'POST', API_KEY, 404],
    ['/livez', 'POST', API_KEY, 405],
  ];
  for (const [path, method, key, status] of cases) {
    const answer = await request(port, path, { method, headers: { 'x-api-key': key }, body: tooLarge });
    assert.equal(answer.status, status);
    assert.equal(answer.json.status, status);
  }
});

test('curl sees the refusal, and the answer to what is within the limit', async (t) => {
  const { origin } = await startTestServer(t);
  const curl = async (bytes: number): Promise<string> => {
    const args = ['-sS', '-o', '-', '-w', '\n%{http_code}', '-H', `x-api-key: ${API_KEY}`];
    const running = promisify(execFile)('curl', [
      ...args,
      '-F',
      'file=@-;filename=a.wav',
      `${origin}/v1/predict`,
    ]);
    // curl stops reading its input after the refusal.
    running.child.stdin?.on('error', () => {});
    running.child.stdin?.end(noise(bytes));
    return (await running).stdout.split('\n').at(-1) ?? '';
  };
  assert.equal(await curl(64 * MEBIBYTE), '413');
  assert.equal(await curl(4 * MEBIBYTE), '200');
});

test('a client that waits for 100 Continue gets it before it sends the body', async (t) => {
  const { port } = await startTestServer(t);
  const body = formBody([fileEntry('x')]);
  const client = await RawClient.connect(port);
  await client.write(predictHead({ 'content-length': body.length, expect: '100-continue' }));
  await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  await client.write(body);
  await client.until(/\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*\}$/);
  client.socket.destroy();
});

test('requests over the limit are refused at the door, and counted out again', async (t) => {
  const { port, analyser, metric } = await startTestServer(t, { maxInflightRequests: 2 });
  const { answer } = analyser;
  let finish = (): void => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let arrived = (): void => {};
  const bothArrived = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  analyser.answer = async (analysis) => {
    if (analyser.running === 2) arrived();
    await gate;
    return answer(analysis);
  };
  const body = formBody([fileEntry('x')]);
  const admitted = [predict(port, body), predict(port, body)];
  await bothArrived;
  assert.equal(await metric('veravox_requests_in_flight'), 2);
  const refused = await predict(port, body);
  assert.equal(refused.status, 503);
  assert.equal(refused.json.error, 'unavailable');
  assert.equal(refused.headers['retry-after'], '1');
  finish();
  for (const { status } of await Promise.all(admitted)) assert.equal(status, 200);
  assert.equal((await predict(port, body)).status, 200);
  assert.equal(await metric('veravox_requests_in_flight'), 0);
  assert.equal(await metric('veravox_http_requests_total{route="/v1/predict",status="503"}'), 1);
});
