// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { Load } from '../../src/cli/bench-load.js';
import { runCli, temporaryFolder } from '../support/cli.js';
import { API_KEY, startTestServer } from '../support/test-server.js';

async function serverOf(t: TestContext, answer: http.RequestListener): Promise<URL> {
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => answer(request, response));
  });
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/predict`);
}

function loadOn(t: TestContext, url: URL, timeoutMs?: number): Load {
  const load = new Load(
    { url, headers: {}, body: Buffer.from('a form') },
    timeoutMs === undefined ? {} : { timeoutMs },
  );
  t.after(() => load.close());
  return load;
}

function keyFile(t: TestContext, key: string): string {
  const file = path.join(temporaryFolder(t), 'key');
  fs.writeFileSync(file, `${key}\n`);
  return file;
}

test('a closed loop has as many requests at once as connections, and counts each answer', async (t) => {
  // The asserted kinds first: a busy machine gets through no more than the first three.
  const kinds = [0, 200, 429, 503, 500, 200];
  const given = new Map<number, number>();
  const held: (() => void)[] = [];
  let areAllThere = false;
  let pending = 0;
  let most = 0;
  let count = 0;
  const url = await serverOf(t, (_, response) => {
    const kind = kinds[count++ % kinds.length] ?? 0;
    given.set(kind, (given.get(kind) ?? 0) + 1);
    most = Math.max(most, ++pending);
    held.push(() => {
      pending--;
      if (kind === 0) response.destroy();
      else response.writeHead(kind).end('{}');
    });
    areAllThere ||= held.length === 3;
    if (areAllThere) for (const end of held.splice(0)) end();
  });
  const { requestsPerS, answeredMs, refused, failed } = await loadOn(t, url).closedLoop(3, 1500);
  const of = (kind: number): number => given.get(kind) ?? 0;
  assert.equal(most, 3);
  assert.ok(of(0) > 0);
  assert.deepEqual([answeredMs.length, refused, failed], [of(200), of(429) + of(503), of(500) + of(0)]);
  assert.ok(requestsPerS * 1.5 <= answeredMs.length);
});

test('a closed loop counts an answer that takes longer than the load', async (t) => {
  const url = await serverOf(t, (_, response) => void setTimeout(() => response.end('{}'), 1000));
  const { requestsPerS, answeredMs } = await loadOn(t, url).closedLoop(1, 500);
  const [answerMs = 0] = answeredMs;
  assert.equal(answeredMs.length, 1);
  assert.ok(requestsPerS > 0 && requestsPerS <= 1000 / answerMs);
});

test('an open loop does not wait for answers, and their times begin when they were due', async (t) => {
  const held: http.ServerResponse[] = [];
  let firstMs = Number.NaN;
  let heldMs = Number.NaN;
  const url = await serverOf(t, (_, response) => {
    if (held.length === 0) firstMs = performance.now();
    held.push(response);
    if (held.length < 20) return;
    if (held.length === 20) heldMs = performance.now() - firstMs;
    for (const each of held) if (!each.writableEnded) each.end('{}');
  });
  const { answeredMs, failed } = await loadOn(t, url).openLoop(200, 500);
  assert.equal(failed, 0);
  assert.equal(answeredMs.length, held.length);
  assert.ok((answeredMs.at(-1) ?? 0) > heldMs);
});

test('a server that stays silent ends no bench: the request fails', async (t) => {
  const url = await serverOf(t, () => {});
  const { answeredMs, failed } = await loadOn(t, url, 50).closedLoop(1, 100);
  assert.equal(answeredMs.length, 0);
  assert.ok(failed > 0);
});

test('veravox bench sends a recording with the key, and has a line per load', async (t) => {
  const { origin, analyser } = await startTestServer(t);
  const recording = path.join(temporaryFolder(t), 'call.wav');
  fs.writeFileSync(recording, 'a recording');
  const args = [
    ...['bench', origin, recording, '--key-file', keyFile(t, API_KEY)],
    ...['--connections', '1,2', '--seconds', '0.2'],
  ];
  const { status, stdout, stderr } = await runCli([...args, '--json']);
  assert.equal(status, 0, stderr);
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    rows.map((row) => row.connections ?? 'rate' in row),
    [1, 2, true, true],
  );
  assert.ok(
    rows.every((row) => row.recording === recording && row.failed === 0 && row.refused === 0),
    stdout,
  );
  assert.equal(new Set(analyser.hashes).size, 1);

  const { stdout: text } = await runCli(args);
  assert.match(text, /^load +requests\/s +audio s\/s +p50 ms +p95 ms +p99 ms +refused +failed$/m);
  assert.match(text, /^2 at once +\d/m);
});

test('without a recording, noise of three lengths is sent, and all of it scored', async (t) => {
  const { origin, analyser } = await startTestServer(t);
  const args = ['bench', origin, '--key-file', keyFile(t, API_KEY), '--connections', '1', '--seconds', '0.1'];
  const { status, stdout, stderr } = await runCli([...args, '--json']);
  assert.equal(status, 0, stderr);
  const names = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).recording);
  assert.deepEqual([...new Set(names)], ['noise of 5 s', 'noise of 15 s', 'noise of 60 s']);
  assert.equal(new Set(analyser.hashes).size, 3);
});

test('what keeps a bench from starting is said in a sentence', async (t) => {
  const { origin } = await startTestServer(t);
  const page = await serverOf(t, (_, response) => response.end('<html>'));
  const key = keyFile(t, API_KEY);
  const cases: readonly (readonly [url: string, key: string, said: RegExp])[] = [
    [
      'voice.example',
      key,
      /^veravox: Expected an address such as http:\/\/127\.0\.0\.1:8080 but received voice\.example\.\n$/,
    ],
    ['http://127.0.0.1:1', key, /^veravox: The server cannot be reached: .*ECONNREFUSED/],
    [origin, keyFile(t, 'not a key'), /^veravox: The server answered 401: /],
    [page.origin, key, /^veravox: The answer is not JSON\. Is this the address of a veravox server\?\n$/],
  ];
  for (const [url, file, said] of cases) {
    const { status, stderr } = await runCli(['bench', url, '--key-file', file, '--seconds', '0.1']);
    assert.match(stderr, said);
    assert.equal(status, 1);
  }
});
