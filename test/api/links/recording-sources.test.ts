// SPDX-License-Identifier: Apache-2.0
//
// Sources from which recordings are read range by range: links, the data folder, S3.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import type http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { FetchSurroundings } from '../../../src/api/fetch/acceptable-addresses.js';
import { FetchPolicy } from '../../../src/api/fetch/fetch-policy.js';
import { LinkSource, type LinkSourceOptions } from '../../../src/api/fetch/link-source.js';
import { RecordingSources } from '../../../src/api/fetch/recording-sources.js';
import type { ByteSource } from '../../../src/base/byte-source/byte-source.js';
import type { ServiceError } from '../../../src/base/errors/service-error.js';
import { CallClock } from '../../../src/base/outgoing/call-clock.js';
import { openStorage } from '../../../src/state/storage/open-storage.js';
import { S3Storage } from '../../../src/state/storage/s3-storage.js';
import { loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
import { makeCertificate } from '../../support/certificates.js';
import { startFakeStorage } from '../../support/fake-storage.js';
import { stored, uploadLink } from '../../support/file-links.js';
import { noise } from '../../support/form-body.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { answer } from '../../support/test-fetcher.js';
import { startTestServer, testConfig } from '../../support/test-server.js';

const FILE = noise(300_000);
const never = new AbortController().signal;
const ACCOUNT = 'one';
const timeouts = { stallTimeoutMs: 60_000, totalTimeoutMs: 60_000 };
const nowhere: FetchSurroundings = {
  resolve: async (hostname) => assert.fail(`${hostname} should not be resolved`),
  isPublicAddress: () => assert.fail('An address of the storage need not be public.'),
};

const failsWith = (work: Promise<unknown>, key: string) =>
  assert.rejects(work, (error: ServiceError) => {
    assert.equal(error.key, key, String(error));
    return true;
  });

/** Answers a range like a storage. */
function sendRange(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  { file = FILE, etag = '"one"' } = {},
): void {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? assert.fail('no range');
  const range = file.subarray(Number(first), Number(last) + 1);
  const contentRange = `bytes ${first}-${last}/${file.length}`;
  response.writeHead(206, { 'content-range': contentRange, etag, 'content-length': range.length }).end(range);
}

async function open(
  t: TestContext,
  handle: http.RequestListener,
  options: Partial<LinkSourceOptions> = {},
): Promise<ByteSource> {
  const storage = await startFakeStorage(t, handle);
  const target = { url: new URL(`${storage.origin}/key?X-Amz-Signature=secret`), isStorage: true };
  const all = { surroundings: nowhere, timeouts, retryPausesMs: [1, 1, 1], ...options };
  const source = await LinkSource.open(target, all, never);
  t.after(() => source.close());
  return source;
}

async function rangeOf(source: ByteSource, offset: number, length: number): Promise<Buffer> {
  const into = Buffer.alloc(length);
  await source.read(into, offset, never);
  return into;
}

async function assertServes(source: ByteSource): Promise<void> {
  assert.equal(source.bytes, FILE.length);
  for (const [offset, length] of [
    [0, 1000],
    [123_456, 100_000],
    [FILE.length - 10, 10],
  ] as const) {
    assert.ok((await rangeOf(source, offset, length)).equals(FILE.subarray(offset, offset + length)));
  }
}

test('a link that has expired, redirects, compresses or knows no ranges is refused at once', async (t) => {
  const answers: [key: string, status: number, headers: http.OutgoingHttpHeaders][] = [
    ['FETCH_STATUS_REFUSED', 403, {}],
    ['FETCH_REDIRECTED', 302, { location: 'http://127.0.0.1:1/' }],
    ['FETCH_ENCODED', 206, { 'content-range': 'bytes 0-0/9', 'content-encoding': 'gzip' }],
    ['FETCH_NO_RANGES', 200, {}],
    ['FETCH_NO_RANGES', 206, { 'content-range': 'bytes 5-5/9' }],
    ['FILE_EMPTY', 416, { 'content-range': 'bytes */0' }],
  ];
  for (const [key, status, headers] of answers) {
    let requests = 0;
    const opening = open(t, (_, response) => {
      requests++;
      response.writeHead(status, headers).end();
    });
    await failsWith(opening, key);
    assert.equal(requests, 1, key);
  }
});

test('ranges of a link are asked for one by one, with the version that was opened', async (t) => {
  const asked: unknown[] = [];
  const source = await open(t, (request, response) => {
    asked.push(request.headers['if-range']);
    sendRange(request, response);
  });
  await assertServes(source);
  assert.deepEqual(asked, [undefined, '"one"', '"one"', '"one"']);
  assert.doesNotMatch(source.identity, /secret/);
});

test('connections are kept, and collect nothing of the ranges that they served', async (t) => {
  const warnings: Error[] = [];
  const note = (warning: Error): unknown => warnings.push(warning);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const connections = new Set<unknown>();
  const source = await open(t, (request, response) => {
    connections.add(request.socket);
    sendRange(request, response);
  });
  for (let i = 0; i < 30; i++) await rangeOf(source, i, 10);
  await new Promise(setImmediate);
  assert.equal(connections.size, 1);
  assert.deepEqual(warnings, []);
});

test('a file that changes on the way is noticed, whether the storage knows if-range or not', async (t) => {
  const changes: http.RequestListener[] = [
    (_, response) => response.writeHead(200, { etag: '"two"' }).end(FILE),
    (_, response) => response.writeHead(412).end(),
    (request, response) => sendRange(request, response, { etag: '"two"' }),
    (request, response) => sendRange(request, response, { file: FILE.subarray(1) }),
  ];
  for (const change of changes) {
    let handle: http.RequestListener = (request, response) => sendRange(request, response);
    const source = await open(t, (request, response) => handle(request, response));
    handle = change;
    await failsWith(rangeOf(source, 10, 10), 'FILE_CHANGED');
  }
});

test('a range that fails, stalls or is cut short is asked for again, and then given up', async (t) => {
  const troubles: http.RequestListener[] = [];
  const source = await open(t, (request, response) => (troubles.shift() ?? sendRange)(request, response), {
    timeouts: { stallTimeoutMs: 1000, totalTimeoutMs: 60_000 },
  });
  const busy: http.RequestListener = (_, response) => response.writeHead(503).end();
  const tooMany: http.RequestListener = (_, response) => response.writeHead(429).end();
  const cut: http.RequestListener = (request, response) => {
    const [first, last] = (request.headers.range ?? '').slice(6).split('-');
    response.writeHead(206, { 'content-range': `bytes ${first}-${last}/${FILE.length}`, etag: '"one"' });
    response.write('x', () => response.destroy());
  };
  const silent: http.RequestListener = () => {};
  for (const trouble of [busy, tooMany, cut, silent]) {
    troubles.push(trouble);
    await assertServes(source);
  }
  troubles.push(busy, busy, busy, busy);
  await failsWith(rangeOf(source, 0, 1), 'FETCH_FAILED');
  assert.equal(troubles.length, 0);
});

test('more than was asked for is never received', async (t) => {
  let isGreedy = false;
  const source = await open(
    t,
    (request, response) => {
      if (!isGreedy) return sendRange(request, response);
      const [first, last] = (request.headers.range ?? '').slice(6).split('-');
      response.writeHead(206, { 'content-range': `bytes ${first}-${last}/${FILE.length}`, etag: '"one"' });
      response.end(FILE);
    },
    { retryPausesMs: [] },
  );
  isGreedy = true;
  await failsWith(rangeOf(source, 0, 100), 'FETCH_UNREACHABLE');
});

test('a name that turns to a private address between two ranges is refused', async (t) => {
  let isPrivate = false;
  const storage = await startFakeStorage(t, (request, response) => {
    response.shouldKeepAlive = false;
    sendRange(request, response);
  });
  const surroundings: FetchSurroundings = {
    resolve: async () => answer('127.0.0.1'),
    isPublicAddress: () => !isPrivate,
  };
  const url = new URL(`http://recordings.example:${storage.port}/key`);
  const source = await LinkSource.open({ url, isStorage: false }, { surroundings, timeouts }, never);
  t.after(() => source.close());
  await rangeOf(source, 0, 10);
  const before = storage.requests.length;
  isPrivate = true;
  await failsWith(rangeOf(source, 10, 10), 'FETCH_ADDRESS_REFUSED');
  assert.equal(storage.requests.length, before);
});

test('each step to a secure connection has the time of a step', async (t) => {
  const { certFile, keyFile } = makeCertificate(temporaryFolder(t), 'recordings');
  const cert = fs.readFileSync(certFile, 'utf8');
  const steps: string[] = [];
  const anew = 'the time begins anew';
  t.mock.method(CallClock.prototype, 'progress', () => steps.push(anew));
  const server = https.createServer(
    {
      cert,
      key: fs.readFileSync(keyFile),
      SNICallback(_name, goOn) {
        steps.push('connected');
        goOn(null);
      },
    },
    (request, response) => {
      steps.push('asked');
      sendRange(request, response);
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const surroundings: FetchSurroundings = {
    resolve: async () => answer('127.0.0.1'),
    isPublicAddress() {
      steps.push('looked up');
      return true;
    },
    ca: cert,
  };
  const url = new URL(`https://localhost:${(server.address() as AddressInfo).port}/key`);
  const source = await LinkSource.open({ url, isStorage: false }, { surroundings, timeouts }, never);
  await source.close();
  assert.deepEqual(steps.slice(steps.lastIndexOf('looked up'), steps.indexOf('asked') + 1), [
    'looked up',
    anew,
    'connected',
    anew,
    'asked',
  ]);
});

test('an abort ends a range that never comes', async (t) => {
  const stop = new AbortController();
  let handle: http.RequestListener = (request, response) => sendRange(request, response);
  const source = await open(t, (request, response) => handle(request, response));
  handle = () => stop.abort(new Error('gone'));
  await assert.rejects(source.read(Buffer.alloc(10), 0, stop.signal), /gone/);
});

async function sourcesOf(t: TestContext, dataDir: string, prefix: string): Promise<RecordingSources> {
  const files = await openStorage({ ...testConfig, dataDir });
  t.after(() => files.storage.close());
  return new RecordingSources(files, new FetchPolicy(() => [prefix], []), timeouts, nowhere);
}

test("a link of the server's own storage is checked and read from the data folder", async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const link = await stored(server, 'call.wav', FILE);
  const requestsBefore = server.log.length;
  const sources = await sourcesOf(t, dataDir, `${server.origin}/`);
  const source = await sources.ofLink(link, ACCOUNT, never);
  await assertServes(source);
  await source.close();
  assert.equal(server.log.length, requestsBefore, 'nothing went through the front door');

  const altered = link.replace(/Signature=../, 'Signature=00');
  await failsWith(sources.ofLink(altered, ACCOUNT, never), 'SIGNATURE_MISMATCH');
  const toSend = await uploadLink(server, 'call.wav');
  await failsWith(sources.ofLink(toSend, ACCOUNT, never), 'SIGNATURE_MISMATCH');
  await failsWith(sources.ofLink('http://elsewhere.example/call.wav', ACCOUNT, never), 'FETCH_HOST_REFUSED');
  await failsWith(sources.ofObject(`${'0'.repeat(32)}/analysis/call.wav`, never), 'OBJECT_NOT_FOUND');
});

test('a stored object is read as it was when it was opened; a newer one has another identity', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const link = await stored(server, 'call.wav', FILE);
  const sources = await sourcesOf(t, dataDir, `${server.origin}/`);
  const name = decodeURIComponent(new URL(link).pathname.split('/').slice(2).join('/'));
  const source = await sources.ofObject(name, never);
  await stored(server, 'call.wav', FILE.subarray(5));
  await assertServes(source);
  const newer = await sources.ofObject(name, never);
  assert.notEqual(newer.identity, source.identity);
  assert.equal(newer.bytes, FILE.length - 5);
  await Promise.all([source.close(), newer.close()]);
});

test('an object in S3 is read in ranges, and noticed to be another one', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const link = await stored(server, 'call.wav', FILE);
  const { accessKeyId, secretAccessKey } = loadStorageSecrets(dataDir);
  process.env.AWS_ACCESS_KEY_ID = accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = secretAccessKey;
  const [, bucket = '', ...parts] = decodeURIComponent(new URL(link).pathname).split('/');
  const storage = new S3Storage({
    timeouts: { stallTimeoutMs: 300_000, totalTimeoutMs: 300_000 },
    bucket,
    region: 'us-east-1',
    endpoint: server.origin,
    publicUrl: '',
    forcePathStyle: true,
    linkLifetimeS: 60,
  });
  t.after(() => storage.close());
  const source = await storage.openSource(parts.join('/'));
  await assertServes(source);
  await stored(
    server,
    'call.wav',
    FILE.map((byte) => byte ^ 1),
  );
  await failsWith(rangeOf(source, 0, 10), 'FILE_CHANGED');
  await failsWith(storage.openSource(`${parts.join('/')}.not`), 'OBJECT_NOT_FOUND');
});
