// SPDX-License-Identifier: Apache-2.0
//
// Answers of an S3 service are checked before they are trusted.

import assert from 'node:assert/strict';
import type http from 'node:http';
import { type TestContext, test } from 'node:test';
import { bucketOf } from '../../support/bucket-of.js';
import { startFakeStorage } from '../../support/fake-storage.js';

process.env.AWS_ACCESS_KEY_ID = 'an-id';
process.env.AWS_SECRET_ACCESS_KEY = 'a-secret';

const FOLDER = 'a'.repeat(32);
const PREFIX = `${FOLDER}/analysis/`;
const FILE = Buffer.from('0123456789');
const never = new AbortController().signal;

async function bucketWith(
  t: TestContext,
  handle: http.RequestListener,
  totalTimeoutMs = 60_000,
  stallTimeoutMs = 60_000,
) {
  const service = await startFakeStorage(t, handle);
  const bucket = bucketOf(t, service.origin, { stallTimeoutMs, totalTimeoutMs });
  return { bucket, service };
}

const entry = (key: string, size = '1'): string =>
  `<Contents><Key>${key}</Key>${size === '' ? '' : `<Size>${size}</Size>`}</Contents>`;
const page = (contents: string, token?: string): string =>
  `<ListBucketResult><IsTruncated>${token !== undefined}</IsTruncated>${
    token === undefined ? '' : `<NextContinuationToken>${token}</NextContinuationToken>`
  }${contents}</ListBucketResult>`;

const isUnavailable = (work: Promise<unknown>, cause: RegExp, what: string): Promise<void> =>
  assert.rejects(
    work,
    (error: Error & { key: string }) => {
      assert.equal(error.key, 'STORAGE_UNAVAILABLE', `${what}: ${error}`);
      assert.match(String((error.cause as Error).message), cause, what);
      return true;
    },
    what,
  );

test('a list with anything that cannot be true is refused', async (t) => {
  const lists: readonly [answer: string, cause: RegExp][] = [
    [page(entry('../../etc/passwd')), /another prefix/],
    [page(entry(`${'b'.repeat(32)}/analysis/x`)), /another prefix/],
    [page(entry('')), /another prefix/],
    [page(entry(`${PREFIX}a`, '')), /without a size/],
    [page(entry(`${PREFIX}a`, '-1')), /without a size/],
    [page(entry(`${PREFIX}a`, '99999999999999999999')), /without a size/],
    [page(entry(`${PREFIX}a`).repeat(11)), /11 objects instead of at most 10/],
    [page('', 'same'), /does not list them/],
    [page(entry(`${PREFIX}a`), 'same'), /does not list them/],
    ['<<<>>not xml', /./],
  ];
  for (const [answer, cause] of lists) {
    const { bucket } = await bucketWith(t, (_, response) =>
      response.writeHead(200, { 'content-type': 'application/xml' }).end(answer),
    );
    await isUnavailable(bucket.list(PREFIX, 10), cause, answer.slice(0, 120));
  }
});

test('a list that comes one object at a time takes no longer than other calls', async (t) => {
  let pages = 0;
  const { bucket } = await bucketWith(
    t,
    (_, response) => {
      setTimeout(() => {
        const answer = page(entry(`${PREFIX}${++pages}`), `token-${pages}`);
        response.writeHead(200, { 'content-type': 'application/xml' }).end(answer);
      }, 10);
    },
    1000,
  );
  await isUnavailable(bucket.list(PREFIX, 1000), /took longer than/, 'a thousand pages');
});

test('a list is read to its end, and names that no client can have are left out', async (t) => {
  const { bucket, service } = await bucketWith(t, (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x');
    const token = searchParams.get('continuation-token');
    // A storage's console makes an object named after the folder.
    const first = page(entry(PREFIX, '0') + entry(`${PREFIX}a`, '5'), 'next');
    response.writeHead(200).end(token === 'next' ? page(entry(`${PREFIX}b`, '7')) : first);
  });
  assert.deepEqual(await bucket.list(PREFIX, 10), [
    { name: `${PREFIX}a`, bytes: 5 },
    { name: `${PREFIX}b`, bytes: 7 },
  ]);
  assert.equal(service.requests.length, 2);
});

test('an endless list is cut off', async (t) => {
  let sentBytes = 0;
  const { bucket } = await bucketWith(t, (_, response) => {
    const piece = Buffer.from(entry(PREFIX.padEnd(900, 'k')).repeat(100));
    response.writeHead(200);
    response.write('<ListBucketResult>');
    const send = (): void => {
      if (response.destroyed || sentBytes > 256 << 20) return;
      sentBytes += piece.length;
      if (response.write(piece)) setImmediate(send);
      else response.once('drain', send);
    };
    send();
  });
  await isUnavailable(bucket.list(PREFIX, 10), /more than 8388608 bytes/, 'endless');
  assert.ok(sentBytes < 128 << 20, `${sentBytes} bytes`);
});

/** Sends ranges of FILE like a storage, except for the forged parts. */
function ranges(
  forge: (first: number, last: number) => { head: http.OutgoingHttpHeaders; body?: Buffer; status?: number },
) {
  return (request: http.IncomingMessage, response: http.ServerResponse): void => {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const [first, last] = [Number(from), Number(to)];
    // The first look is right.
    const isFirst = last === 0;
    const {
      head,
      status = 206,
      body = FILE.subarray(first, last + 1),
    } = isFirst ? { head: {} } : forge(first, last);
    const right = { etag: '"e"', 'content-range': `bytes ${first}-${last}/${FILE.length}` };
    response.writeHead(status, { ...right, ...head });
    response.end(body);
  };
}

test('a part of an object that is another one than was asked for is refused', async (t) => {
  const forged: readonly [forge: Parameters<typeof ranges>[0], key: string][] = [
    [() => ({ head: {} }), ''],
    [
      (first, last) => ({ head: { 'content-range': `bytes ${first + 1}-${last + 1}/10` } }),
      'STORAGE_UNAVAILABLE',
    ],
    [(first, last) => ({ head: { 'content-range': `bytes ${first}-${last}/11` } }), 'FILE_CHANGED'],
    [(first, last) => ({ head: { 'content-range': `bytes ${first}-${last}/*` } }), 'STORAGE_UNAVAILABLE'],
    [() => ({ head: { 'content-range': '' } }), 'STORAGE_UNAVAILABLE'],
    [() => ({ head: { 'content-range': '' }, status: 200, body: FILE }), 'STORAGE_UNAVAILABLE'],
    [() => ({ head: { etag: '"f"' } }), 'FILE_CHANGED'],
    [() => ({ head: {}, body: Buffer.alloc(1 << 20) }), 'STORAGE_UNAVAILABLE'],
    [() => ({ head: {}, body: FILE.subarray(0, 2) }), 'STORAGE_UNAVAILABLE'],
    [() => ({ head: {}, status: 412 }), 'FILE_CHANGED'],
  ];
  for (const [i, [forge, key]] of forged.entries()) {
    const { bucket } = await bucketWith(t, ranges(forge));
    const source = await bucket.openSource(`${PREFIX}a`);
    assert.equal(source.bytes, FILE.length);
    const into = new Uint8Array(4);
    const read = source.read(into, 3, never);
    if (key === '') await read.then(() => assert.deepEqual(Buffer.from(into), FILE.subarray(3, 7)));
    else await assert.rejects(read, { key }, `${i}: ${key}`);
  }
});

test('a size that no range tells is no size', async (t) => {
  for (const contentRange of [
    'bytes 0-0/99999999999999999999',
    'bytes 0-0/0',
    'bytes 1-1/10',
    'bytes 0-0/x',
  ]) {
    const { bucket } = await bucketWith(t, (_, response) =>
      response.writeHead(206, { 'content-range': contentRange, etag: '"e"' }).end('x'),
    );
    await isUnavailable(bucket.stateOf(`${PREFIX}a`), /instead of bytes 0-0/, contentRange);
  }
});

async function* twoParts() {
  yield new Uint8Array(16 << 20);
  yield new Uint8Array(1);
}

test('an upload in parts that has no name, or parts without one, is no upload', async (t) => {
  for (const [begun, cause] of [
    ['<InitiateMultipartUploadResult/>', /began an upload without a name/],
    [
      '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>',
      /a part without a name/,
    ],
  ] as const) {
    const methods: (string | undefined)[] = [];
    const { bucket } = await bucketWith(t, (request, response) => {
      methods.push(request.method);
      request.resume().on('end', () => response.writeHead(200).end(request.method === 'POST' ? begun : ''));
    });
    await isUnavailable(bucket.writeFrom(`${PREFIX}a`, twoParts()), cause, begun);
    // The upload that was begun is aborted.
    assert.equal(methods.includes('DELETE'), begun.includes('UploadId'));
  }
});

test('large uploads go over a kept connection, like other calls', async (t) => {
  const { bucket, service } = await bucketWith(t, (request, response) =>
    request.resume().on('end', () => response.writeHead(200).end()),
  );
  for (let i = 0; i < 2; i++) await bucket.write(`${PREFIX}a`, new Uint8Array(3 << 20));
  assert.equal(await service.connections(), 1);
  assert.equal(service.requests.length, 2);
});

test('a bucket that stores an upload, or joins its parts, may be silent for long', async (t) => {
  const works: string[] = [];
  const { bucket } = await bucketWith(
    t,
    (request, response) => {
      const { method = '', url = '' } = request;
      const done = (answer: string): unknown => response.writeHead(200, { etag: '"e"' }).end(answer);
      request.resume().on('end', () => {
        if (url.includes('uploads'))
          done('<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>');
        else if (url.includes('partNumber')) done('');
        else {
          works.push(method);
          setTimeout(done, 3000, method === 'POST' ? '<CompleteMultipartUploadResult/>' : '');
        }
      });
    },
    300_000,
    1000,
  );
  await Promise.all([
    bucket.write(`${PREFIX}a`, new Uint8Array(1)),
    bucket.writeFrom(`${PREFIX}b`, twoParts()),
  ]);
  assert.deepEqual(works.sort(), ['POST', 'PUT']);
});
