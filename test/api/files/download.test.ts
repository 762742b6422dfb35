// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { requestedRange } from '../../../src/api/routes/byte-range.js';
import type { Config } from '../../../src/base/config/options.js';
import { LinkSigner } from '../../../src/state/storage/link-signer.js';
import { s3Signer } from '../../../src/state/storage/signature.js';
import { SigningCredentials } from '../../../src/state/storage/signing-credentials.js';
import { loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
import { filesOnDisk, follow, s3Code, stored, uploadLink } from '../../support/file-links.js';
import { noise } from '../../support/form-body.js';
import { RawClient } from '../../support/http-client.js';
import { openFilesOf } from '../../support/open-files.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { startTestServer, type TestServer } from '../../support/test-server.js';
import { until } from '../../support/until.js';

type Server = TestServer & { dataDir: string };

async function start(t: TestContext, overrides: Partial<Config> = {}): Promise<Server> {
  const dataDir = temporaryFolder(t);
  return { ...(await startTestServer(t, { dataDir, ...overrides })), dataDir };
}

/** Files below the data folder that this process (which is also the server) has open. */
function openFiles({ dataDir }: Server): string[] {
  return openFilesOf(process.pid).filter((file) => file.startsWith(path.join(dataDir, 'objects')));
}

async function rawDownload(link: string, fromPort?: number, headers = ''): Promise<RawClient> {
  const { port, host, pathname, search } = new URL(link);
  const client = await RawClient.connect(fromPort ?? Number(port));
  client.socket.pause();
  await client.write(`GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${headers}\r\n`);
  return client;
}

const statuses = ({ log }: Server): unknown[] =>
  log.filter(({ method, route }) => method === 'GET' && route === '/veravox/').map(({ status }) => status);

/** Whether an answer with this many bytes of body has arrived. */
function hasBody({ received }: RawClient, bytes: number): boolean {
  if (received.length <= bytes) return false;
  const head = received.indexOf('\r\n\r\n');
  return head >= 0 && received.length >= head + 4 + bytes;
}

test('what is not there is 404; what cannot be the name of an object is not there, and cannot be stored', async (t) => {
  const server = await start(t);
  const signer = new LinkSigner(new SigningCredentials(loadStorageSecrets(server.dataDir)));
  const folder = new URL(await uploadLink(server, 'a')).pathname.split('/')[2];
  const names = [
    `${folder}/analysis/missing`,
    `${folder}/analysis/`,
    `${folder}/analysis`,
    `${folder}`,
    `${folder}/analysis/../../../storage.json`,
    `${folder}/../incoming/x`,
    `${folder}/analysis/${'k'.repeat(513)}`,
    'incoming/a/b',
  ];
  for (const name of names) {
    for (const method of ['GET', 'PUT'] as const) {
      const link = await signer.sign({ method, origin: server.origin, name, lifetimeS: 60 });
      if (method === 'PUT' && name.endsWith('missing')) continue;
      const answer = await follow(link, { method, ...(method === 'PUT' && { body: noise(10) }) });
      const expected = method === 'GET' ? [404, 'NoSuchKey'] : [400, 'InvalidArgument'];
      assert.deepEqual([answer.status, s3Code(answer)], expected, `${method} ${name}`);
    }
  }
  assert.deepEqual(filesOnDisk(server.dataDir), []);
});

test('a range that no byte of the object satisfies is 416', async (t) => {
  const link = await stored(await start(t), 'a', noise(100));
  for (const range of [`bytes=${'9'.repeat(20)}-`, 'bytes=100-', 'bytes=200-300', 'bytes=-0']) {
    const answer = await follow(link, { headers: { range } });
    assert.equal(answer.status, 416, range);
    assert.equal(s3Code(answer), 'InvalidRange');
    assert.equal(answer.headers['content-range'], 'bytes */100');
  }
});

test('which part a range header asks for', () => {
  const parts: readonly [header: string | undefined, expected: [start: number, end: number] | undefined][] = [
    ['bytes=0-0', [0, 1]],
    ['bytes=0-99', [0, 100]],
    ['bytes=10-1000', [10, 100]],
    ['bytes=99-', [99, 100]],
    ['bytes=-1', [99, 100]],
    ['bytes=-1000', [0, 100]],
    [`bytes=5-${'9'.repeat(20)}`, [5, 100]],
    [`bytes=-${'9'.repeat(400)}`, [0, 100]],
    ['BYTES=0-1', [0, 2]],
    [undefined, undefined],
    ['bytes=-', undefined],
    ['bytes=5-4', undefined],
    ['bytes=10000000000000000001-10000000000000000000', undefined],
    ['bytes=0-1,5-6', undefined],
    ['bytes=a-b', undefined],
    ['items=0-1', undefined],
    ['bytes=0-1 ', undefined],
  ];
  for (const [header, expected] of parts) {
    const range = requestedRange(header, 100);
    assert.deepEqual(range && [range.start, range.end], expected, header);
  }
});

test('parts of an object, as they were asked for, from the first to the last byte', async (t) => {
  const content = noise(700_001);
  const link = await stored(await start(t), 'a', content);
  const etag = `"${createHash('md5').update(content).digest('hex')}"`;
  const whole = await follow(link);
  assert.equal(whole.status, 200);
  assert.deepEqual(whole.bytes, content);
  assert.equal(whole.headers.etag, etag);
  assert.equal(whole.headers['content-length'], '700001');
  assert.equal(whole.headers['accept-ranges'], 'bytes');
  assert.equal(whole.headers['content-type'], 'application/octet-stream');
  assert.equal(whole.headers['x-content-type-options'], 'nosniff');
  assert.ok(Math.abs(Date.parse(whole.headers['last-modified'] ?? '') - Date.now()) < 60_000);
  for (const [range, start, end] of [
    ['bytes=0-0', 0, 1],
    ['bytes=262143-262144', 262143, 262145],
    ['bytes=100000-', 100000, 700001],
    ['bytes=-1', 700000, 700001],
  ] as const) {
    const part = await follow(link, { headers: { range } });
    assert.equal(part.status, 206);
    assert.equal(part.headers['content-range'], `bytes ${start}-${end - 1}/700001`);
    assert.deepEqual(part.bytes, content.subarray(start, end));
  }
  const unchanged = await follow(link, { headers: { range: 'bytes=0-9', 'if-range': etag } });
  assert.equal(unchanged.status, 206);
  const changed = await follow(link, { headers: { range: 'bytes=0-9', 'if-range': '"another"' } });
  assert.equal(changed.status, 200);
});

test('conditions are those of RFC 9110, in its order, for GET and HEAD', async (t) => {
  const server = await start(t);
  const link = await stored(server, 'a', Buffer.from('content'));
  const { headers } = await follow(link);
  const etag = String(headers.etag);
  const modified = String(headers['last-modified']);
  const before = new Date(Date.parse(modified) - 1000).toUTCString();
  const cases: [given: Record<string, string>, status: number][] = [
    [{ 'if-none-match': etag }, 304],
    [{ 'if-none-match': `W/${etag}` }, 304],
    [{ 'if-none-match': `"x", ${etag}` }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"x"' }, 200],
    [{ 'if-match': '"x"' }, 412],
    [{ 'if-match': etag, 'if-none-match': etag }, 304],
    [{ 'if-match': '"x"', 'if-none-match': etag }, 412],
    [{ 'if-modified-since': modified }, 304],
    [{ 'if-modified-since': before }, 200],
    [{ 'if-modified-since': 'yesterday' }, 200],
    [{ 'if-modified-since': modified, 'if-none-match': '"x"' }, 200],
    [{ 'if-unmodified-since': modified }, 200],
    [{ 'if-unmodified-since': before }, 412],
    [{ 'if-unmodified-since': before, 'if-match': etag }, 200],
    [{ 'if-unmodified-since': 'yesterday' }, 200],
    [{ 'if-none-match': etag, range: 'bytes=0-1' }, 304],
  ];
  for (const [given, status] of cases) {
    const answer = await follow(link, { headers: given });
    assert.equal(answer.status, status, JSON.stringify(given));
    if (status !== 304) continue;
    assert.equal(answer.bytes.length, 0);
    assert.equal(answer.headers.etag, etag);
    assert.equal(answer.headers['last-modified'], modified);
  }
});

test('an empty object', async (t) => {
  const server = await start(t);
  const link = await stored(server, 'a', Buffer.alloc(0));
  const { status, bytes, headers } = await follow(link);
  assert.equal(status, 200);
  assert.equal(bytes.length, 0);
  assert.equal(headers['content-length'], '0');
  await until(() => openFiles(server).length === 0);
});

test('HEAD tells the size and sends nothing', async (t) => {
  const server = await start(t);
  const { pathname, host } = new URL(await stored(server, 'a', noise(1234)));
  const hash = 'UNSIGNED-PAYLOAD';
  const signed = await (await s3Signer(loadStorageSecrets(server.dataDir))).sign({
    method: 'HEAD',
    protocol: 'http:',
    hostname: host,
    path: pathname,
    headers: { host, 'x-amz-content-sha256': hash },
  });
  const headers = { ...signed.headers };
  const answer = await follow(`${server.origin}${pathname}`, { method: 'HEAD', headers });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-length'], '1234');
  assert.equal(answer.bytes.length, 0);
  const get = await follow(`${server.origin}${pathname}`, { headers });
  assert.equal(s3Code(get), 'SignatureDoesNotMatch');
  const late = { ...headers, 'x-amz-date': '20200101T000000Z' };
  const refused = await follow(`${server.origin}${pathname}`, { method: 'HEAD', headers: late });
  assert.equal(refused.status, 403);
  await until(() => openFiles(server).length === 0);
});

test('a body other than the one whose SHA-256 was signed is refused', async (t) => {
  const server = await start(t);
  const { pathname, host } = new URL(await uploadLink(server, 'a'));
  const put = async (signedBody: string, sentBody: string) => {
    const hash = createHash('sha256').update(signedBody).digest('hex');
    const signed = await (await s3Signer(loadStorageSecrets(server.dataDir))).sign({
      method: 'PUT',
      protocol: 'http:',
      hostname: host,
      path: pathname,
      headers: { host, 'x-amz-content-sha256': hash },
    });
    const headers = { ...signed.headers };
    return follow(`${server.origin}${pathname}`, { method: 'PUT', headers, body: Buffer.from(sentBody) });
  };
  assert.equal(s3Code(await put('one', 'two')), 'XAmzContentSHA256Mismatch');
  assert.deepEqual(filesOnDisk(server.dataDir), []);
  assert.equal((await put('one', 'one')).status, 200);
});

test('a client that leaves is counted as gone, and the file closed', async (t) => {
  const server = await start(t);
  const link = await stored(server, 'a', noise(20_000_000));
  for (let i = 0; i < 5; i++) {
    const client = await rawDownload(link);
    await until(() => openFiles(server).length === 1);
    client.socket.destroy();
    await until(() => openFiles(server).length === 0);
  }
  await until(() => statuses(server).length === 5);
  assert.deepEqual(statuses(server), [499, 499, 499, 499, 499]);
  assert.equal(await server.metric('veravox_transfers_in_flight'), 0);
});

test('a client that stops reading is cut off after the time limit', async (t) => {
  // Another server takes the object, since the limit also applies to senders.
  const storing = await start(t);
  const link = await stored(storing, 'a', noise(20_000_000));
  const server = await start(t, { dataDir: storing.dataDir, receiveTimeoutMs: 200 });
  const client = await rawDownload(link, server.port);
  await until(() => statuses(server).length === 1);
  assert.deepEqual(statuses(server), [499]);
  await until(() => openFiles(server).length === 0);
  client.socket.resume();
  await client.closed;
});

test('slow readers get everything, though uWebSockets.js would give up after 10 s and an announced body never comes', async (t) => {
  // Scarce, so that slow bodies are cut.
  const server = await start(t, { maxTransfers: 2 });
  const content = noise(20_000_000);
  const link = await stored(server, 'a', content);
  const clients = [await rawDownload(link), await rawDownload(link, server.port, 'content-length: 1\r\n')];
  const startedMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 13_000));
  for (const client of clients) client.socket.resume();
  await until(() => clients.every((client) => hasBody(client, content.length)));
  await until(() => statuses(server).length === 2);
  assert.ok(performance.now() - startedMs > 13_000);
  for (const { received, socket } of clients) {
    const [head = ''] = received.split('\r\n\r\n', 1);
    assert.ok(Buffer.from(received.slice(head.length + 4), 'latin1').equals(content));
    socket.destroy();
  }
});

test('who began to fetch an object gets it whole, also when it is replaced meanwhile', async (t) => {
  const server = await start(t);
  const older = noise(20_000_000, 1);
  const link = await stored(server, 'a', older);
  const client = await rawDownload(link);
  await until(() => openFiles(server).length === 1);
  await stored(server, 'a', Buffer.from('newer'));
  client.socket.resume();
  await until(() => hasBody(client, older.length));
  assert.ok(client.received.endsWith(older.subarray(-1000).toString('latin1')));
  assert.equal((await follow(link)).text, 'newer');
  client.socket.destroy();
});

test('a file that is cut short on the disk ends the connection, and is in the log', async (t) => {
  const server = await start(t);
  const link = await stored(server, 'a', noise(20_000_000));
  const client = await rawDownload(link);
  client.socket.resume();
  await client.until(/\r\n\r\n/);
  client.socket.pause();
  const [file = ''] = filesOnDisk(server.dataDir);
  fs.truncateSync(path.join(server.dataDir, 'objects', file), 15_000_000);
  client.socket.resume();
  await client.closed;
  await until(() => statuses(server).length === 1);
  const line = server.log.find(({ errorKey }) => errorKey === 'STORAGE_FAILED');
  assert.match(JSON.stringify(line), /cut short/);
  await until(() => openFiles(server).length === 0);
});

test('several objects on one connection, and errors in between', async (t) => {
  const server = await start(t);
  const link = await stored(server, 'a', noise(600_000));
  const { host, pathname, search } = new URL(link);
  const client = await RawClient.connect(server.port);
  for (let i = 0; i < 3; i++) {
    client.received = '';
    await client.write(`GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    await until(() => hasBody(client, 600_000));
    client.received = '';
    await client.write(`GET ${pathname}${search}0 HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    await client.until(/^HTTP\/1\.1 403 [\s\S]*<\/Error>$/);
  }
  client.socket.destroy();
});
