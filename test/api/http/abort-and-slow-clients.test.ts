// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import http from 'node:http';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { FORM_OVERHEAD_BYTES } from '../../../src/api/upload/form-upload.js';
import { someAnalysis } from '../../support/analyser-double.js';
import { eventually } from '../../support/eventually.js';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { predict, predictHead, RawClient } from '../../support/http-client.js';
import { startTestServer, type TestServer } from '../../support/test-server.js';
import { until } from '../../support/until.js';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const linesWithStatus = ({ log }: TestServer, status: number): number =>
  log.filter((line) => line.msg === 'request' && line.status === status).length;

/** Resolves when the server has read the heads of this many requests. */
const inFlight = ({ metric }: TestServer, count: number): Promise<void> =>
  eventually(async () => (await metric('veravox_requests_in_flight')) === count, `${count} in flight`);

/** Five normal requests in a row, while something else is going on. */
async function assertServes({ port, analyser }: TestServer): Promise<void> {
  for (let i = 0; i < 5; i++) {
    const file = noise(160_000, i);
    const answer = await predict(port, formBody([fileEntry(file)]));
    assert.equal(answer.status, 200);
    assert.equal(analyser.hashes.at(-1), sha256(file));
  }
}

test('500 connections that abort mid-upload leave nothing behind and disturb nobody', async (t) => {
  const server = await startTestServer(t);
  const body = formBody([fileEntry(noise(100_000))]);
  const head = predictHead({ 'content-length': body.length });
  const clients = await Promise.all(Array.from({ length: 500 }, () => RawClient.connect(server.port)));
  await Promise.all(
    clients.map(async (client, i) => {
      await client.write(head);
      await client.write(body.subarray(0, (i * 197) % body.length));
    }),
  );
  await inFlight(server, 500);
  const serving = assertServes(server);
  clients.forEach((client, i) => {
    if (i % 2 === 0) client.socket.destroy();
    else client.socket.resetAndDestroy();
  });
  await serving;
  await until(() => linesWithStatus(server, 499) === 500);
  assert.equal(server.arena.usedBytes, 0);
  assert.equal(await server.metric('veravox_requests_in_flight'), 0);
  assert.equal(await server.metric('veravox_http_requests_total{route="/v1/predict",status="499"}'), 500);
  await assertServes(server);
});

test('200 clients that trickle take no upload memory, and one that trickles to the end is served', async (t) => {
  const server = await startTestServer(t, { maxInflightBytes: 8 << 20 });
  const head = predictHead({ 'content-length': 5 << 20 });
  const clients = await Promise.all(Array.from({ length: 200 }, () => RawClient.connect(server.port)));
  const start = formBody([fileEntry('')]);
  for (const client of clients) await client.write(head);
  for (let at = 0; at < 100; at++) {
    await Promise.all(clients.map((client) => client.write(start.subarray(at, at + 1))));
  }
  await inFlight(server, 200);
  assert.equal(server.arena.usedBytes, 0);
  await assertServes(server);
  for (const client of clients) client.socket.destroy();

  const file = noise(300);
  const body = formBody([fileEntry(file)]);
  const client = await RawClient.connect(server.port);
  await client.write(predictHead({ 'content-length': body.length }));
  for (const byte of body) await client.write(Buffer.of(byte));
  assert.match(await client.until(/\}$/), /^HTTP\/1\.1 200 /);
  assert.equal(server.analyser.hashes.at(-1), sha256(file));
  client.socket.destroy();
});

test('a body that does not arrive in time is answered with 408', async (t) => {
  const server = await startTestServer(t, { receiveTimeoutMs: 150 });
  for (const sentBytes of [0, 10, 100_000]) {
    const body = formBody([fileEntry(noise(200_000))]);
    const client = await RawClient.connect(server.port);
    await client.write(predictHead({ 'content-length': body.length }));
    await client.write(body.subarray(0, sentBytes));
    const answer = await client.until(/\}\r\n$/);
    assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
    assert.match(answer, /"error":"timeout","message":"The request body did not arrive within 150 ms\."/);
    client.socket.destroy();
  }
  assert.equal(server.arena.usedBytes, 0);
});

test('our own limit decides about slow bodies, not the 10 s of uWebSockets.js', async (t) => {
  const server = await startTestServer(t);
  const file = noise(130);
  const body = formBody([fileEntry(file)]);
  const client = await RawClient.connect(server.port);
  await client.write(predictHead({ 'content-length': body.length }));
  const startedMs = performance.now();
  const interval = setInterval(() => void client.write(body.subarray(sent, ++sent)), 12_000 / body.length);
  let sent = 0;
  t.after(() => clearInterval(interval));
  assert.match(await client.until(/\}$/), /^HTTP\/1\.1 200 /);
  assert.ok(performance.now() - startedMs > 11_000);
  assert.deepEqual(server.analyser.hashes, [sha256(file)]);
  client.socket.destroy();
});

/** Uploads of 5 MB, all at once; each is different, in every part. */
async function uploadAtOnce(
  t: TestContext,
  server: TestServer,
  count: number,
  headers: Record<string, string>,
): Promise<void> {
  const base = noise(5_000_000);
  const files = Array.from({ length: count }, (_, i) => {
    const file = Buffer.from(base);
    for (let at = 0; at < file.length; at += 50_000) file.writeUInt32LE(i, at);
    return file;
  });
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  let mostUsedBytes = 0;
  const { answer } = server.analyser;
  server.analyser.answer = async (analysis) => {
    mostUsedBytes = Math.max(mostUsedBytes, server.arena.usedBytes);
    await nextTick();
    return answer(analysis);
  };
  const answers = await Promise.all(
    files.map((file) => predict(server.port, formBody([fileEntry(file)]), { agent, headers })),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.deepEqual(server.analyser.hashes.toSorted(), files.map(sha256).toSorted());
  assert.equal(server.arena.usedBytes, 0);
  assert.ok(mostUsedBytes >= 5_000_000 && mostUsedBytes <= server.arena.totalBytes);
}

test('64 uploads of 5 MB through an arena for three: all are served, every byte intact', async (t) => {
  const server = await startTestServer(t, { maxInflightBytes: 3 * (5 << 20) + FORM_OVERHEAD_BYTES });
  await uploadAtOnce(t, server, 64, {});
});

test('the same with 16 that do not declare their length', async (t) => {
  const server = await startTestServer(t, { maxInflightBytes: 3 * (5 << 20) + FORM_OVERHEAD_BYTES });
  await uploadAtOnce(t, server, 16, { 'transfer-encoding': 'chunked' });
});

test('without room within the time limit an upload is refused, and its place in the queue given up', async (t) => {
  const limits = { maxInflightBytes: 6 << 20, queueTimeoutMs: 100 };
  const server = await startTestServer(t, limits);
  const { answer } = server.analyser;
  let finish = (): void => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  server.analyser.answer = async (analysis) => {
    await gate;
    return answer(analysis);
  };
  const body = formBody([fileEntry(noise(5_000_000))]);
  const first = predict(server.port, body);
  await until(() => server.analyser.running === 1);
  const refused = await predict(server.port, body);
  assert.equal(refused.status, 503);
  assert.match(refused.json.message, /upload bytes in flight/);
  assert.equal(refused.headers['retry-after'], '1');
  finish();
  assert.equal((await first).status, 200);
  assert.equal((await predict(server.port, body)).status, 200);
  assert.equal(await server.metric('veravox_uploads_waiting'), 0);
});

test('time in which an upload waits for room does not count as time to receive it', async (t) => {
  const server = await startTestServer(t, { receiveTimeoutMs: 300, queueTimeoutMs: 1500 });
  assert.ok(server.arena.reserve(server.arena.totalBytes) !== undefined);
  const complete = formBody([fileEntry(noise(1000))]);
  const begun = formBody([fileEntry(noise(20_000))]).subarray(0, 17_000);
  const forms: readonly (readonly [number, Buffer])[] = [
    [complete.length, complete],
    [5_000_000, begun],
  ];
  const answers = forms.map(async ([length, body]) => {
    const client = await RawClient.connect(server.port);
    t.after(() => client.socket.destroy());
    await client.write(Buffer.concat([Buffer.from(predictHead({ 'content-length': length })), body]));
    return client.until(/\}\r?\n?$/);
  });
  for (const answer of await Promise.all(answers))
    assert.match(answer, /^HTTP\/1\.1 503 [\s\S]*retry-after: /);
});

test('a client that leaves during the analysis aborts it; the file stays until the analysis has ended', async (t) => {
  const server = await startTestServer(t);
  let end = (): void => {};
  let aborted = false;
  server.analyser.answer = ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        aborted = true;
        end = () => reject(signal.reason);
      });
    });
  const body = formBody([fileEntry(noise(1000))]);
  const client = await RawClient.connect(server.port);
  await client.write(predictHead({ 'content-length': body.length }));
  await client.write(body);
  await until(() => server.analyser.running === 1);
  client.socket.destroy();
  await until(() => aborted);
  assert.ok(server.arena.usedBytes > 0);
  end();
  await until(() => linesWithStatus(server, 499) === 1);
  assert.equal(server.arena.usedBytes, 0);
  assert.equal(await server.metric('veravox_errors_total{key="INTERNAL"}'), 0);
});

test('an analysis that ends after the client has left is not answered', async (t) => {
  const server = await startTestServer(t);
  let end = (): void => {};
  server.analyser.answer = () =>
    new Promise((resolve) => {
      end = () => resolve(someAnalysis);
    });
  const body = formBody([fileEntry(noise(1000))]);
  const client = await RawClient.connect(server.port);
  await client.write(predictHead({ 'content-length': body.length }));
  await client.write(body);
  await until(() => server.analyser.running === 1);
  const { signal } = server.analyser.requests[0] ?? assert.fail();
  client.socket.destroy();
  await until(() => signal.aborted);
  end();
  await until(() => linesWithStatus(server, 499) === 1);
  assert.equal(server.arena.usedBytes, 0);
});
