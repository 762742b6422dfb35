// SPDX-License-Identifier: Apache-2.0
//
// Clients that send requests and read no answers. Their answers must not pile up in the server.
import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import v8 from 'node:v8';
import vm from 'node:vm';
import { nobody } from '../../../src/api/admission/shared-budget.js';
import { AnswerLimits } from '../../../src/api/http/answer-limits.js';
import { PendingAnswer } from '../../../src/api/http/pending-answer.js';
import type { HttpResponse } from '../../../src/api/http/uws.js';
import { someAnalysis } from '../../support/analyser-double.js';
import { eventually } from '../../support/eventually.js';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { predictHead, RawClient, request } from '../../support/http-client.js';
import { startTestServer } from '../../support/test-server.js';

const MEBIBYTE = 1024 * 1024;

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;

/** A connection that reads nothing and sends for as long as it can. */
function deafClient(
  port: number,
  data: Buffer,
): { sentBytes: () => number; closed: Promise<void>; end(): void } {
  const socket = net.connect({
    port,
    host: '127.0.0.1',
    onread: { buffer: Buffer.alloc(1), callback: () => false },
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
  });
  const feed = (): void => {
    while (!socket.destroyed && socket.write(data));
  };
  socket.on('connect', feed);
  socket.on('drain', feed);
  return { sentBytes: () => socket.bytesWritten, closed, end: () => socket.destroy() };
}

async function residentBytes(): Promise<number> {
  collectGarbage();
  return process.memoryUsage().rss;
}

for (const line of [
  'GET /openapi.json',
  'GET /docs/swagger-ui-bundle.js',
  'GET /livez',
  'GET /nowhere',
  'PUT /livez',
  'HEAD /livez',
  'OPTIONS /v1/predict',
]) {
  test(`unread answers to ${line}, sent behind one another, end the connection instead of filling memory`, async (t) => {
    const { port, metric } = await startTestServer(t);
    const requests = Buffer.from(`${line} HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(2000));
    // Memory for the test itself and the first answer.
    await request(port, '/docs/swagger-ui-bundle.js');
    const before = await residentBytes();
    const clients = Array.from({ length: 8 }, () => deafClient(port, requests));
    await Promise.all(clients.map((client) => client.closed));
    const grownBytes = (await residentBytes()) - before;
    // Answered in full, as before, these requests would take hundreds of megabytes.
    assert.ok(grownBytes < 100 * MEBIBYTE, `${grownBytes / MEBIBYTE} MiB`);
    assert.equal((await request(port, '/livez')).status, 200);
    assert.equal(await metric('veravox_held_answer_bytes'), 0);
    assert.equal(await metric('veravox_connections'), 1);
  });
}

test('600 clients that do not read a large file of the docs cost next to nothing; others are served', async (t) => {
  const { port, metric } = await startTestServer(t);
  const { text } = await request(port, '/docs/swagger-ui-bundle.js');
  const before = await residentBytes();
  const one = Buffer.from('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: a\r\n\r\n');
  const sockets = Array.from({ length: 600 }, () => net.connect(port, '127.0.0.1'));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) {
    socket.on('error', () => {});
    socket.pause();
    socket.write(one);
  }
  const series = 'veravox_http_requests_total{route="/docs/swagger-ui-bundle.js",status="200"}';
  await eventually(async () => (await metric(series)) === 601, 'All are answered');
  assert.equal((await request(port, '/livez')).status, 200);
  assert.equal((await request(port, '/docs/swagger-ui-bundle.js')).text, text);
  const grownBytes = (await residentBytes()) - before;
  assert.ok(text.length > MEBIBYTE);
  // Read per request, as before, the file alone would take a gigabyte. Most of this is the sockets of the test.
  assert.ok(grownBytes < 250 * MEBIBYTE, `${grownBytes / MEBIBYTE} MiB`);
  assert.equal(await metric('veravox_held_answer_bytes'), 0);
});

/** Larger than the system's buffers for an answer that nobody reads. */
const longAnalysis = {
  ...someAnalysis,
  windows: Array.from({ length: 60_000 }, (_, index) => ({
    startS: 5 * index,
    endS: 5 * index + 5,
    scores: [0.5],
  })),
};

/** An answer whose client takes nothing of it. */
function untaken(bytes: number): { limits: AnswerLimits; pending: PendingAnswer | undefined } {
  const limits = new AnswerLimits({ maxBytes: 2 * bytes, timeoutMs: 60_000, onClose: assert.fail });
  let onWritable: unknown;
  const res = {
    cork: (write: () => void) => write(),
    tryEnd: () => [false, false],
    onWritable: (listener: unknown) => {
      onWritable = listener;
    },
    held: () => onWritable,
  } as unknown as HttpResponse;
  const body = JSON.stringify('x'.repeat(bytes - 2));
  return { limits, pending: PendingAnswer.offer(res, body, bytes, limits, nobody, () => {}) };
}

test('an answer that waits for its client is held once: as many bytes as are counted', () => {
  const heldBytes = (): number => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = heldBytes();
  const { limits, pending } = untaken(32 * MEBIBYTE);
  const grownBytes = heldBytes() - before;
  assert.equal(limits.usedBytes, 32 * MEBIBYTE);
  assert.ok(Math.abs(grownBytes - limits.usedBytes) < 8 * MEBIBYTE, `${grownBytes / MEBIBYTE} MiB`);
  pending?.letGo();
  assert.equal(limits.usedBytes, 0);
});

async function askWithoutReading(port: number, body: Buffer): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write(predictHead({ 'content-length': body.length }));
  socket.write(body);
  return socket;
}

test('a long answer waits for its client, counts as memory until it is taken, and arrives whole', async (t) => {
  const { port, analyser, metric } = await startTestServer(t);
  analyser.answer = () => longAnalysis;
  const body = formBody([fileEntry(noise(1000))]);
  const socket = await askWithoutReading(port, body);
  await eventually(async () => (await metric('veravox_held_answer_bytes')) > MEBIBYTE, 'The rest is held');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.resume();
  let json = '';
  await eventually(() => {
    const [head = '', rest = ''] = received.split('\r\n\r\n');
    json = rest;
    return json.length === Number(/\r\nContent-Length: (\d+)/.exec(head)?.[1]);
  }, 'All of it arrives');
  assert.equal(JSON.parse(json).segments.length, longAnalysis.windows.length);
  assert.equal(await metric('veravox_held_answer_bytes'), 0);
  // The connection still works.
  received = '';
  socket.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
  await eventually(() => received.endsWith('}'), 'The next answer arrives');
  socket.destroy();
});

test('an answer that has no room among those that wait is not kept: its connection ends, and is counted', async (t) => {
  const { port, analyser, metric } = await startTestServer(t, { maxAnswerBytes: MEBIBYTE });
  analyser.answer = () => longAnalysis;
  const socket = await askWithoutReading(port, formBody([fileEntry(noise(1000))]));
  await eventually(
    async () => (await metric('veravox_connections_closed_total{reason="answer_memory"}')) === 1,
    'It is counted',
  );
  assert.equal(await metric('veravox_held_answer_bytes'), 0);
  socket.destroy();
});

test('a client that takes too long for an answer is cut off, and its memory is free again', async (t) => {
  const { port, analyser, metric } = await startTestServer(t, { receiveTimeoutMs: 1000 });
  analyser.answer = () => longAnalysis;
  const socket = await askWithoutReading(port, formBody([fileEntry(noise(1000))]));
  await eventually(
    async () => (await metric('veravox_connections_closed_total{reason="answer_not_taken"}')) === 1,
    'It is counted',
  );
  assert.equal(await metric('veravox_held_answer_bytes'), 0);
  socket.destroy();
});

test('a client that reads gets 64 answers to requests sent at once, in order, and keeps its connection', async (t) => {
  const { port } = await startTestServer(t);
  const client = await RawClient.connect(port);
  const paths = Array.from({ length: 60 }, (_, index) => `/nowhere-${index}`);
  await client.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`).join(''));
  await client.until(/nowhere-59[^}]*\}$/);
  assert.deepEqual(
    [...client.received.matchAll(/at (\/nowhere-\d+)\./g)].map(([, path]) => path),
    paths,
  );
  client.received = '';
  await client.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
  await client.until(/\}$/);
  client.socket.destroy();
});
