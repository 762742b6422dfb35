// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { someAnalysis } from '../support/analyser-double.js';
import { fileEntry, formBody, noise } from '../support/form-body.js';
import { predict, predictHead, RawClient, request } from '../support/http-client.js';
import { startTestServer, type TestServer, testConfig } from '../support/test-server.js';

const body = formBody([fileEntry(noise(1000))]);

/** Makes analyses wait; `started` resolves when the first one has begun. */
function holdAnalyses({ analyser }: TestServer) {
  let finish = (): void => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const started = new Promise<void>((resolve) => {
    analyser.answer = async () => {
      resolve();
      await gate;
      return someAnalysis;
    };
  });
  return { started, finish };
}

async function isListening(port: number): Promise<boolean> {
  try {
    (await RawClient.connect(port)).socket.destroy();
    return true;
  } catch {
    return false;
  }
}

test('not ready at once, but still serving during the grace period, with connections that end', async (t) => {
  const { server, port, analyser, metric } = await startTestServer(t, { stopGraceMs: 1500 });
  assert.equal((await request(port, '/readyz')).status, 200);
  // The grace period lasts as long as this test needs.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stopped = server.stop();
  const ready = await request(port, '/readyz');
  assert.equal(ready.status, 503);
  assert.equal(ready.json.state, 'stopping');
  assert.equal(await metric('veravox_ready'), 0);
  assert.equal((await request(port, '/livez')).status, 200);
  const answer = await predict(port, body);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.connection, 'close');
  t.mock.timers.tick(1499);
  assert.ok(await isListening(port));
  t.mock.timers.tick(1);
  await stopped;
  assert.ok(analyser.closed);
  assert.ok(!(await isListening(port)));
});

test('a request in flight is answered before the server is gone; new ones on old connections are refused', async (t) => {
  const server = await startTestServer(t, { stopDrainMs: 60_000 });
  const { started, finish } = holdAnalyses(server);
  const old = await RawClient.connect(server.port);
  await old.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
  await old.until(/\}$/);
  const inFlight = predict(server.port, body);
  await started;
  const stopped = server.server.stop();
  while (await isListening(server.port));
  old.received = '';
  await old.write(predictHead({ 'content-length': body.length }));
  const refused = await old.until(/\}\r\n$/);
  assert.match(refused, /^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: 5\r\n[\s\S]*The server is shutting down/);
  assert.ok(!server.analyser.closed);
  finish();
  assert.equal((await inFlight).status, 200);
  await stopped;
  assert.ok(server.analyser.closed);
});

test('what is not done at the drain deadline is cut off', async (t) => {
  const server = await startTestServer(t, { stopDrainMs: 50 });
  const { started, finish } = holdAnalyses(server);
  const inFlight = assert.rejects(predict(server.port, body), { code: 'ECONNRESET' });
  const uploading = await RawClient.connect(server.port);
  await uploading.write(predictHead({ 'content-length': body.length }));
  await started;
  await server.server.stop();
  await inFlight;
  await uploading.closed;
  finish();
});

async function startProcess(t: TestContext) {
  const program = fileURLToPath(new URL('../support/stoppable-server.js', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  const output = { out: '', err: '' };
  child.stderr.on('data', (chunk) => {
    output.err += chunk;
  });
  const exited = once(child, 'close');
  const port = await new Promise<number>((resolve) => {
    child.stdout.on('data', (chunk) => {
      output.out += chunk;
      const listening = /"port":(\d+)/.exec(output.out);
      if (listening) resolve(Number(listening[1]));
    });
  });
  return { child, output, exited, port };
}

test('the process ends with code 0, nothing on standard error, and its whole log written', async (t) => {
  const { child, output, exited, port } = await startProcess(t);
  assert.equal((await predict(port, body)).status, 200);
  const idle = await RawClient.connect(port);
  child.kill('SIGTERM');
  assert.deepEqual(await exited, [0, null]);
  assert.equal(output.err, '');
  await idle.closed;
  const messages = output.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).msg);
  assert.deepEqual(messages, ['listening', 'request', 'stopping', 'stopped']);
});

test('a second server on the same port fails with a sentence', async (t) => {
  const { port } = await startTestServer(t);
  await assert.rejects(startTestServer(t, { port }), /Cannot listen on 127\.0\.0\.1 port/);
});

test('an arena that is too small for one upload is an error at start', async (t) => {
  const needed = testConfig.maxPredictBytes;
  await assert.rejects(
    startTestServer(t, { maxInflightBytes: needed }),
    /maxInflightBytes is .* but one upload/,
  );
});
