// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { startFakeStorage } from '../../support/fake-storage.js';
import { noise } from '../../support/form-body.js';
import { TestFetcher, type TestFetcherOptions } from '../../support/test-fetcher.js';

const MAX = 100_000;

interface Served {
  readonly fetcher: TestFetcher;
  readonly link: string;
  /** Resolves when the storage has closed its side of the last connection. */
  readonly closed: Promise<unknown>;
  /** The requests to the storage. */
  readonly requests: readonly http.IncomingMessage[];
}

async function serve(
  test: TestContext,
  handle: http.RequestListener,
  options: TestFetcherOptions = {},
): Promise<Served> {
  let onClosed = (): void => {};
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  const storage = await startFakeStorage(test, (request, response) => {
    request.socket.once('close', onClosed);
    handle(request, response);
  });
  const fetcher = new TestFetcher({ storagePrefixes: [storage.origin], maxFileBytes: MAX, ...options });
  return {
    fetcher,
    link: `${storage.origin}/key?X-Amz-Signature=secret`,
    closed,
    requests: storage.requests,
  };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await nextTick();
}

/** A storage that answers exactly this to any request, and then closes the connection. */
async function serveRaw(test: TestContext, text: string): Promise<Served> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(text));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    fetcher: new TestFetcher({ storagePrefixes: [origin], maxFileBytes: MAX }),
    link: `${origin}/`,
    closed: Promise.resolve(),
    requests: [],
  };
}

test('the request is a plain GET that carries nothing of ours, without compression', async (t) => {
  let seen: http.IncomingMessage | undefined;
  const { fetcher, link } = await serve(t, (request, response) => {
    seen = request;
    response.end('x');
  });
  await fetcher.bytesOf(`${link}#fragment`);
  assert.equal(seen?.method, 'GET');
  assert.equal(seen?.url, '/key?X-Amz-Signature=secret');
  assert.deepEqual(seen?.headers, {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'veravox',
    host: new URL(link).host,
    connection: 'close',
  });
});

test('a status of the storage becomes one of ours', async (t) => {
  let status = 0;
  const { fetcher, link } = await serve(t, (_, response) =>
    response.writeHead(status).end('<Error>internals</Error>'),
  );
  const cases: [from: number, key: string, to: number, message: RegExp][] = [
    [400, 'FETCH_STATUS_REFUSED', 400, /^The storage refused the presigned_url with status 400\.$/],
    [403, 'FETCH_STATUS_REFUSED', 400, /with status 403\.$/],
    [404, 'FETCH_STATUS_REFUSED', 400, /with status 404\.$/],
    [429, 'FETCH_STATUS_REFUSED', 400, /with status 429\.$/],
    [499, 'FETCH_STATUS_REFUSED', 400, /with status 499\.$/],
    [500, 'FETCH_FAILED', 503, /failed with status 500; retry after 2 s\.$/],
    [503, 'FETCH_FAILED', 503, /with status 503/],
    [201, 'FETCH_FAILED', 503, /with status 201/],
    [204, 'FETCH_FAILED', 503, /with status 204/],
    [206, 'FETCH_FAILED', 503, /with status 206/],
  ];
  for (const [from, key, to, message] of cases) {
    status = from;
    await assert.rejects(fetcher.fetch(link), { key, status: to, message }, `${from}`);
  }
  assert.equal(fetcher.arena.usedBytes, 0);
});

test('a file of the largest size is taken, with and without a declared length; one byte more is not', async (t) => {
  let file = noise(0);
  let isDeclared = true;
  const { fetcher, link } = await serve(t, (_, response) => {
    if (isDeclared) response.setHeader('content-length', file.length);
    response.write(file.subarray(0, file.length >> 1));
    response.end(file.subarray(file.length >> 1));
  });
  for (isDeclared of [true, false]) {
    for (const bytes of [1, 10, 16_383, 16_384, 16_385, MAX - 1, MAX]) {
      file = noise(bytes);
      assert.ok(file.equals(await fetcher.bytesOf(link)), `${bytes}, ${isDeclared}`);
      assert.equal(fetcher.arena.usedBytes, 0);
    }
    file = noise(MAX + 1);
    await assert.rejects(fetcher.fetch(link), {
      key: 'FILE_TOO_LARGE',
      status: 413,
      message: /limit of 100000 bytes/,
    });
    assert.equal(fetcher.arena.usedBytes, 0);
  }
});

test('a declared length over the limit is refused before any of the file was sent', async (t) => {
  const { fetcher, link, closed } = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': MAX + 1 });
    response.flushHeaders();
  });
  await assert.rejects(fetcher.fetch(link), { key: 'FILE_TOO_LARGE' });
  await closed;
  assert.equal(fetcher.arena.usedBytes, 0);
});

test('a file without end is cut off at the limit', async (t) => {
  const chunk = noise(10_000);
  const { fetcher, link, closed } = await serve(t, (_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(chunk)) {}
    };
    response.on('drain', more);
    more();
  });
  await assert.rejects(fetcher.fetch(link), { key: 'FILE_TOO_LARGE' });
  await closed;
  assert.equal(fetcher.arena.usedBytes, 0);
});

test('a file of unknown length holds no more memory than it has bytes once it is there', async (t) => {
  const file = noise(20_000);
  const { fetcher, link } = await serve(t, (_, response) => {
    response.write(file.subarray(0, 17_000));
    response.end(file.subarray(17_000));
  });
  const { bytes, release } = await fetcher.fetch(link);
  assert.equal(bytes, 20_000);
  assert.equal(fetcher.arena.usedBytes, 20_480);
  release();
  assert.equal(fetcher.arena.usedBytes, 0);
  assert.throws(release, /released twice/);
});

test('an empty file is refused', async (t) => {
  const { fetcher, link } = await serve(t, (_, response) => response.end());
  await assert.rejects(fetcher.fetch(link), {
    key: 'FILE_EMPTY',
    message: 'The file in the field presigned_url is empty.',
  });
  assert.equal(fetcher.arena.usedBytes, 0);
});

test('a compressed file is refused, not unpacked', async (t) => {
  let encoding = '';
  const { fetcher, link } = await serve(t, (_, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(gzipSync(Buffer.alloc(1 << 20))),
  );
  for (encoding of [
    'gzip',
    'br',
    'deflate',
    'zstd',
    'GZIP',
    'identity, gzip',
    'aws-chunked',
    'x'.repeat(1000),
  ]) {
    await assert.rejects(fetcher.fetch(link), {
      key: 'FETCH_ENCODED',
      status: 400,
      message: new RegExp(`received "${encoding.slice(0, 40)}"\\.$`),
    });
  }
  encoding = 'identity';
  assert.equal((await fetcher.bytesOf(link)).length, gzipSync(Buffer.alloc(1 << 20)).length);
  assert.equal(fetcher.arena.usedBytes, 0);
});

test('a file that breaks off is no file', async (t) => {
  const { fetcher, link } = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': 50_000 });
    response.write(noise(40_000), () => response.destroy());
  });
  await assert.rejects(fetcher.fetch(link), { key: 'FETCH_UNREACHABLE', status: 503 });
  assert.equal(fetcher.arena.usedBytes, 0);
});

test('answers that are no HTTP, or another protocol, are failures of the storage', async (t) => {
  const answers = [
    '',
    'SSH-2.0-OpenSSH_9.2\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcdef',
    'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1 << 17)}\r\n\r\n`,
  ];
  for (const text of answers) {
    const { fetcher, link } = await serveRaw(t, text);
    await assert.rejects(fetcher.fetch(link), { key: 'FETCH_UNREACHABLE' }, text.slice(0, 80));
    assert.equal(fetcher.arena.usedBytes, 0);
  }
});

test('a storage that refuses the connection, or has no address, is unavailable, and no more is told', async () => {
  const closing = net.createServer().listen(0, '127.0.0.1');
  await once(closing, 'listening');
  const { port } = closing.address() as AddressInfo;
  closing.close();
  await once(closing, 'close');
  const nobody = `http://127.0.0.1:${port}`;
  const unknown = 'http://nobody.example.com';
  let resolve = (): Promise<never> | Promise<[]> => Promise.resolve([]);
  const fetcher = new TestFetcher({
    storagePrefixes: [nobody, unknown],
    surroundings: { resolve: () => resolve() },
  });
  const failure = {
    key: 'FETCH_UNREACHABLE',
    status: 503,
    message: 'The storage behind presigned_url could not be reached; retry after 2 s.',
  };
  await assert.rejects(fetcher.fetch(`${nobody}/`), failure);
  await assert.rejects(fetcher.fetch(`${unknown}/`), failure);
  resolve = () => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }));
  await assert.rejects(fetcher.fetch(`${unknown}/`), failure);
});

test('time limits: nothing sent, stalled halfway, trickling, a name that takes for ever', async (t) => {
  const timer = (response: http.ServerResponse): void => {
    const timers = setInterval(() => response.write('x'), 10);
    response.on('close', () => clearInterval(timers));
  };
  const stalling = { timeouts: { stallTimeoutMs: 1000 } };
  const slow = { timeouts: { totalTimeoutMs: 600 } };
  const headOnly: http.RequestListener = (_, response) =>
    response.writeHead(200, { 'content-length': 9 }).flushHeaders();
  const halfway: http.RequestListener = (_, response) => void response.write(noise(50_000));
  const cases: [name: string, http.RequestListener, TestFetcherOptions, message: RegExp][] = [
    ['no answer', () => {}, stalling, /sent nothing for 1000 ms\.$/],
    ['head only', headOnly, stalling, /sent nothing for 1000 ms\.$/],
    ['halfway', halfway, stalling, /sent nothing for 1000 ms\.$/],
    ['trickling', (_, response) => timer(response), slow, /took longer than 600 ms\.$/],
  ];
  for (const [name, handle, options, message] of cases) {
    const { fetcher, link, closed, requests } = await serve(t, handle, options);
    const failure = { key: 'FETCH_TIMEOUT', status: 500, code: 'internal_error', message };
    await assert.rejects(fetcher.fetch(link), failure, name);
    // A busy machine may not even have sent the request in time.
    if (requests.length > 0) await closed;
    assert.equal(fetcher.arena.usedBytes, 0);
  }
  const resolving = new TestFetcher({
    storagePrefixes: ['http://slow.example.com'],
    ...stalling,
    surroundings: { resolve: () => new Promise(() => {}) },
  });
  await assert.rejects(resolving.fetch('http://slow.example.com/'), { key: 'FETCH_TIMEOUT' });
});

test('a client that leaves ends the fetch at once, wherever it is', async (t) => {
  const gone = new Error('the client has gone');
  const stages: [name: string, handle: http.RequestListener, isThere: (fetcher: TestFetcher) => boolean][] = [
    ['before the answer', () => {}, () => true],
    ['in the file', (_, response) => void response.write(noise(50_000)), ({ arena }) => arena.usedBytes > 0],
  ];
  for (const [name, handle, isThere] of stages) {
    let asked = false;
    const { fetcher, link, closed } = await serve(t, (request, response) => {
      asked = true;
      handle(request, response);
    });
    const client = new AbortController();
    const fetching = fetcher.fetch(link, client.signal);
    await until(() => asked && isThere(fetcher));
    client.abort(gone);
    assert.equal(fetcher.arena.usedBytes, 0, name);
    await assert.rejects(fetching, gone);
    await closed;
  }
  const fetcher = new TestFetcher({
    storagePrefixes: ['http://slow.example.com'],
    surroundings: { resolve: () => new Promise(() => {}) },
  });
  const client = new AbortController();
  const fetching = fetcher.fetch('http://slow.example.com/', client.signal);
  client.abort(gone);
  await assert.rejects(fetching, gone);
  await assert.rejects(fetcher.fetch('http://slow.example.com/', client.signal), gone);
  assert.equal(fetcher.resolved.length, 1, 'a client that had left before makes nobody ask');
});

test('without room in the arena the storage is not read any further, and its time does not run', async (t) => {
  const file = noise(90_000);
  const { fetcher, link } = await serve(t, (_, response) => response.end(file), {
    arenaBytes: 100_000,
    timeouts: { stallTimeoutMs: 1000, totalTimeoutMs: 1000 },
  });
  const taken = fetcher.queue.reserve(50_000) ?? assert.fail();
  const fetching = fetcher.bytesOf(link);
  await until(() => fetcher.queue.waiting === 1);
  const waitingSinceMs = performance.now();
  await until(() => performance.now() - waitingSinceMs > 2000);
  fetcher.queue.release(taken);
  assert.ok(file.equals(await fetching));
  assert.equal(fetcher.arena.usedBytes, 0);
});

test('who leaves while it waits for room leaves the queue, too', async (t) => {
  const { fetcher, link, closed } = await serve(t, (_, response) => response.end(noise(90_000)), {
    arenaBytes: 100_000,
  });
  const taken = fetcher.queue.reserve(50_000) ?? assert.fail();
  const client = new AbortController();
  const fetching = fetcher.fetch(link, client.signal);
  await until(() => fetcher.queue.waiting === 1);
  client.abort(new Error('gone'));
  assert.equal(fetcher.queue.waiting, 0);
  await assert.rejects(fetching, { message: 'gone' });
  await closed;
  fetcher.queue.release(taken);
  assert.equal(fetcher.arena.usedBytes, 0);
});

test('many fetches at once through an arena for two: every byte of each is its own', async (t) => {
  const { fetcher, link } = await serve(
    t,
    ({ url = '' }, response) =>
      response.end(noise(90_000, Number(new URL(url, 'http://x').searchParams.get('seed')))),
    { arenaBytes: 200_000 },
  );
  const seeds = [1, 2, 3, 4, 5, 6];
  const files = await Promise.all(seeds.map((seed) => fetcher.bytesOf(`${link}&seed=${seed}`)));
  for (const [index, file] of files.entries()) assert.ok(file.equals(noise(90_000, seeds[index])));
  assert.equal(fetcher.arena.usedBytes, 0);
});
