// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../../src/base/config/options.js';
import { ownDataFolder } from '../../../src/state/data-folder/data-folder.js';
import { downloadLink, filesOnDisk, follow, s3Code, stored, uploadLink } from '../../support/file-links.js';
import { noise } from '../../support/form-body.js';
import { RawClient } from '../../support/http-client.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { startTestServer, type TestServer } from '../../support/test-server.js';
import { until } from '../../support/until.js';

async function start(
  t: TestContext,
  overrides: Partial<Config> = {},
): Promise<TestServer & { dataDir: string }> {
  const dataDir = temporaryFolder(t);
  return { ...(await startTestServer(t, { dataDir, ...overrides })), dataDir };
}

/** An upload that the test sends, byte by byte. */
async function rawUpload(link: string, headers: Record<string, string | number>): Promise<RawClient> {
  const { port, host, pathname, search } = new URL(link);
  const client = await RawClient.connect(Number(port));
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  await client.write(`PUT ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return client;
}

test('an upload that breaks off leaves nothing behind, and the older object in its place', async (t) => {
  const server = await start(t);
  const download = await stored(server, 'a', Buffer.from('the older'));
  const before = filesOnDisk(server.dataDir);
  for (const sentBytes of [0, 10, 700_000]) {
    const client = await rawUpload(await uploadLink(server, 'a'), { 'content-length': 1_000_000 });
    await client.write(noise(sentBytes));
    await until(() => filesOnDisk(server.dataDir).length > before.length);
    client.socket.destroy();
    await until(() => filesOnDisk(server.dataDir).length === before.length);
  }
  assert.equal((await follow(download)).text, 'the older');
  await until(() => server.log.filter(({ status }) => status === 499).length === 3);
  assert.equal(await server.metric('veravox_transfers_in_flight'), 0);
});

test('a size over the limit is refused: at once when declared, else as soon as it is', async (t) => {
  const server = await start(t, { maxObjectBytes: 100_000 });
  const declared = await rawUpload(await uploadLink(server, 'a'), { 'content-length': 100_001 });
  const refusal = await declared.until(/<\/Error>\r\n$/);
  assert.match(refusal, /^HTTP\/1\.1 413 [\s\S]*<Code>EntityTooLarge<\/Code>/);
  assert.match(refusal, /exceeds the limit of 100000 bytes/);
  declared.socket.destroy();
  const chunked = await rawUpload(await uploadLink(server, 'a'), { 'transfer-encoding': 'chunked' });
  await chunked.write(`${(150_000).toString(16)}\r\n`);
  await chunked.write(noise(120_000));
  assert.match(await chunked.until(/<\/Error>\r\n$/), /^HTTP\/1\.1 413 /);
  chunked.socket.destroy();
  assert.deepEqual(filesOnDisk(server.dataDir), []);
  const exactly = await follow(await uploadLink(server, 'a'), { method: 'PUT', body: noise(100_000) });
  assert.equal(exactly.status, 200);
});

test('links of v0 and the unversioned base take 4 MB and refuse one byte more with 400', async (t) => {
  const server = await start(t);
  for (const base of ['/v0', ''] as const) {
    const link = await uploadLink(server, 'a', { base });
    assert.equal((await follow(link, { method: 'PUT', body: noise(4_000_000) })).status, 200);
    const body = noise(4_000_001);
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const refused = await follow(link, { method: 'PUT', body, headers });
      assert.equal(refused.status, 400);
      const { error, message, status, correlation_id } = JSON.parse(refused.text);
      assert.equal(error, 'validation_error');
      assert.equal(message, 'The file exceeds the limit of 4000000 bytes.');
      assert.equal(status, 400);
      assert.equal(correlation_id, refused.headers['x-correlation-id']);
    }
    assert.equal((await follow(await downloadLink(server, 'a', { base }))).bytes.length, 4_000_000);
    const withoutLimit = link.replace(/x-veravox-max-bytes=\d+&/, '');
    assert.notEqual(withoutLimit, link);
    assert.equal(s3Code(await follow(withoutLimit, { method: 'PUT', body })), 'SignatureDoesNotMatch');
  }
});

test('a sender that stalls, or brings too little, is refused with 408', async (t) => {
  // Long enough for the request of the link itself, even on a busy machine.
  const server = await start(t, { receiveTimeoutMs: 1000 });
  for (const sentBytes of [0, 300_000]) {
    const client = await rawUpload(await uploadLink(server, 'a'), { 'content-length': 1_000_000 });
    await client.write(noise(sentBytes));
    assert.match(await client.until(/\r\n$/), /^HTTP\/1\.1 408 Request Timeout\r\n/);
    client.socket.destroy();
  }
  const trickling = await rawUpload(await uploadLink(server, 'a'), { 'content-length': 1_000_000 });
  const interval = setInterval(() => void trickling.write('x'), 20);
  t.after(() => clearInterval(interval));
  assert.match(await trickling.until(/RequestTimeout[\s\S]*\r\n$/), /^HTTP\/1\.1 408 /);
  clearInterval(interval);
  trickling.socket.destroy();
  await until(() => filesOnDisk(server.dataDir).length === 0);
});

test('an upload may take longer than the time limit while it goes on', async (t) => {
  const receiveTimeoutMs = 5000;
  const server = await start(t, { receiveTimeoutMs });
  const step = noise(300_000);
  const client = await rawUpload(await uploadLink(server, 'a'), { 'content-length': 7 * step.length });
  const startedMs = performance.now();
  let sent = 0;
  await new Promise<void>((resolve) => {
    const interval = setInterval(() => {
      void client.write(step);
      if (++sent < 7) return;
      clearInterval(interval);
      resolve();
    }, 900);
  });
  await client.until(/^HTTP\/1\.1 200 OK\r\n/);
  assert.ok(performance.now() - startedMs > receiveTimeoutMs);
  client.socket.destroy();
});

/** Occupies every thread that Node uses for files. Returns a function that releases them. */
function stopDiskThreads(t: TestContext): () => void {
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const pipes = Array.from({ length: threads }, () => path.join(temporaryFolder(t), 'pipe'));
  for (const pipe of pipes) {
    spawnSync('mkfifo', [pipe]);
    // Opening a pipe waits for its other end.
    fs.open(pipe, 'r', (_, file) => fs.closeSync(file));
  }
  return () => {
    for (const pipe of pipes) fs.closeSync(fs.openSync(pipe, 'w'));
  };
}

test('an upload outlasts a disk that writes nothing for longer than the 10 s of uWebSockets.js', async (t) => {
  const server = await start(t);
  const file = noise(20_000_000);
  const client = await rawUpload(await uploadLink(server, 'a'), { 'content-length': file.length });
  await until(() => filesOnDisk(server.dataDir).length === 1);
  const startedMs = performance.now();
  const letGo = stopDiskThreads(t);
  const timer = setTimeout(letGo, 13_000);
  t.after(() => clearTimeout(timer));
  void client.write(file);
  await client.until(/^HTTP\/1\.1 200 OK\r\n/);
  assert.ok(performance.now() - startedMs > 12_000);
  client.socket.destroy();
  assert.deepEqual((await follow(await downloadLink(server, 'a'))).bytes, file);
});

test('a digest that the content does not have is refused, and nothing stored', async (t) => {
  const server = await start(t);
  const link = await uploadLink(server, 'a');
  const md5 = (text: string) => createHash('md5').update(text).digest('base64');
  const put = (body: string, of: string) =>
    follow(link, { method: 'PUT', body: Buffer.from(body), headers: { 'content-md5': md5(of) } });
  const refused = await put('one', 'another');
  assert.equal(refused.status, 400);
  assert.equal(s3Code(refused), 'BadDigest');
  assert.deepEqual(filesOnDisk(server.dataDir), []);
  const taken = await put('one', 'one');
  assert.equal(taken.status, 200);
  assert.equal(taken.headers.etag, `"${createHash('md5').update('one').digest('hex')}"`);
});

test('an object that cannot be put in its place is a 500, with the cause in the log only', async (t) => {
  const server = await start(t);
  const link = await uploadLink(server, 'a');
  const folder = new URL(link).pathname.split('/')[2] ?? '';
  fs.writeFileSync(path.join(server.dataDir, 'objects', folder), 'a file where a folder should be');
  const answer = await follow(link, { method: 'PUT', body: noise(1000) });
  assert.equal(answer.status, 500);
  assert.equal(s3Code(answer), 'InternalError');
  assert.ok(!answer.text.includes('ENOTDIR') && !answer.text.includes(server.dataDir));
  assert.deepEqual(filesOnDisk(server.dataDir), [folder]);
  const line = server.log.find(({ errorKey }) => errorKey === 'STORAGE_FAILED');
  assert.match(JSON.stringify(line?.err), /ENOTDIR|EEXIST/);
});

test('a full disk is a 503 with Retry-After, and nothing is left half-written', async (t) => {
  const program = fileURLToPath(new URL('../../support/stoppable-server.js', import.meta.url));
  // A file-size limit, which the kernel enforces like a full disk.
  const command = `ulimit -f 1024; exec "${process.execPath}" "${program}"`;
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGTERM'));
  const [line] = await once(child.stdout, 'data');
  const server = { port: Number(/"port":(\d+)/.exec(String(line))?.[1]) };
  for (let i = 0; i < 2; i++) {
    const refused = await follow(await uploadLink(server, 'a'), { method: 'PUT', body: noise(4_000_000) });
    assert.equal(refused.status, 503);
    assert.equal(s3Code(refused), 'ServiceUnavailable');
    assert.equal(refused.headers['retry-after'], '60');
  }
  assert.equal(
    (await follow(await uploadLink(server, 'b'), { method: 'PUT', body: noise(100_000) })).status,
    200,
  );
  const listed = await follow(await downloadLink(server, 'b'));
  assert.deepEqual(listed.bytes, noise(100_000));
});

test('what a crash left half-written is removed at the next start, and whole objects are still there', async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startTestServer(t, { dataDir });
  await stored(first, 'a', Buffer.from('whole'));
  await first.server.stop();
  const whole = filesOnDisk(dataDir);
  fs.writeFileSync(path.join(dataDir, 'objects/incoming/half'), 'half');
  (await ownDataFolder(dataDir)).release();
  const second = await startTestServer(t, { dataDir });
  assert.deepEqual(filesOnDisk(dataDir), whole);
  assert.equal((await follow(await downloadLink(second, 'a'))).text, 'whole');
});

test('of two uploads to one key at the same time one wins, whole', async (t) => {
  const server = await start(t);
  const contents = Array.from({ length: 8 }, (_, i) => noise(500_000, i + 1));
  const link = await uploadLink(server, 'a');
  await Promise.all(contents.map((body) => follow(link, { method: 'PUT', body })));
  const { bytes } = await follow(await downloadLink(server, 'a'));
  assert.ok(contents.some((content) => content.equals(bytes)));
  assert.equal(filesOnDisk(server.dataDir).length, 1);
});

test('a graceful stop lets an upload finish, and what is cut off at its deadline leaves nothing', async (t) => {
  const body = noise(600_000);
  const patient = await start(t, { stopDrainMs: 60_000 });
  const client = await rawUpload(await uploadLink(patient, 'a'), { 'content-length': body.length });
  await client.write(body.subarray(0, 300_000));
  await until(() => filesOnDisk(patient.dataDir).length === 1);
  const stopped = patient.server.stop();
  await client.write(body.subarray(300_000));
  await client.until(/^HTTP\/1\.1 200 OK\r\n/);
  await stopped;
  assert.equal(filesOnDisk(patient.dataDir).length, 1);

  const hasty = await start(t, { stopDrainMs: 50 });
  const cut = await rawUpload(await uploadLink(hasty, 'a'), { 'content-length': body.length });
  await cut.write(body.subarray(0, 300_000));
  await until(() => filesOnDisk(hasty.dataDir).length === 1);
  await hasty.server.stop();
  assert.deepEqual(filesOnDisk(hasty.dataDir), []);
  await cut.closed;
});

test('uploads are counted under one label, and neither key nor signature is in the log', async (t) => {
  const server = await start(t);
  const link = await uploadLink(server, 'a-secret-name');
  await follow(link, { method: 'PUT', body: noise(1000) });
  await follow(`${link}0`, { method: 'PUT', body: noise(1000) });
  const series = (status: number) => `veravox_http_requests_total{route="/veravox/",status="${status}"}`;
  assert.equal(await server.metric(series(200)), 1);
  assert.equal(await server.metric(series(403)), 1);
  assert.equal((await server.metric('veravox_received_bytes_total')) > 0, true);
  const text = JSON.stringify(server.log);
  assert.ok(!text.includes('a-secret-name') && !text.includes('X-Amz') && text.includes('"/veravox/"'));
});

test('uploads take permits', async (t) => {
  // However long this takes, no body is cut off for slowness.
  t.mock.timers.enable({ apis: ['setInterval'] });
  const server = await start(t, { maxTransfers: 1 });
  const link = await uploadLink(server, 'a');
  const client = await rawUpload(link, { 'content-length': 10 });
  await until(() => filesOnDisk(server.dataDir).length === 1);
  const refused = await follow(link, { method: 'PUT', body: noise(10) });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers['retry-after'], '1');
  await client.write(noise(10));
  await client.until(/^HTTP\/1\.1 200 OK\r\n/);
  assert.equal((await follow(link, { method: 'PUT', body: noise(10) })).status, 200);
  client.socket.destroy();
});
