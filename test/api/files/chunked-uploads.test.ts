// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { ChunkedBody } from '../../../src/state/storage/chunked-body.js';
import { loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
import { downloadLink, filesOnDisk, follow, s3Code, uploadLink } from '../../support/file-links.js';
import { chunksOf, crc32Of, putSigned, TRAILER } from '../../support/signed-chunks.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { startTestServer } from '../../support/test-server.js';

const UNSIGNED = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
const content = randomBytes(700_000);

/** As SDKs send it over TLS. */
function unsignedBody(bytes: Buffer, size: number, trailer = `${TRAILER}:${crc32Of(bytes)}\r\n`): Buffer {
  const chunks = chunksOf(bytes, size).map((chunk) =>
    Buffer.concat([
      Buffer.from(`${chunk.length.toString(16)}\r\n`),
      chunk,
      Buffer.from(chunk.length > 0 ? '\r\n' : ''),
    ]),
  );
  return Buffer.concat([...chunks, Buffer.from(`${trailer}\r\n`)]);
}

async function start(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  return { server, dataDir, link: await uploadLink(server, 'a'), secrets: loadStorageSecrets(dataDir) };
}

const unsignedHeaders = (bytes: number) => ({
  'content-encoding': 'aws-chunked',
  'x-amz-content-sha256': UNSIGNED,
  'x-amz-decoded-content-length': String(bytes),
  'x-amz-trailer': TRAILER,
});

test('what is wrong with a chunked body is said, and nothing stored', async (t) => {
  const { dataDir, link } = await start(t);
  const good = unsignedBody(content, 65_536);
  const wrong: readonly [what: string, body: Buffer, code: string, message: RegExp][] = [
    ['a wrong checksum', unsignedBody(content, 65_536, `${TRAILER}:AAAAAA==\r\n`), 'BadDigest', /crc32/],
    [
      'no trailer',
      unsignedBody(content, 65_536, ''),
      'IncompleteBody',
      /trailer x-amz-checksum-crc32 is missing/,
    ],
    [
      'another trailer',
      unsignedBody(content, 65_536, 'x-amz-checksum-sha1:AA==\r\n'),
      'IncompleteBody',
      /announces/,
    ],
    [
      'a trailer twice',
      unsignedBody(content, 65_536, `${TRAILER}:A\r\n`.repeat(2)),
      'IncompleteBody',
      /announces/,
    ],
    ['another length', unsignedBody(content.subarray(1), 65_536), 'IncompleteBody', /700000 bytes.*699999/],
    ['half of it', good.subarray(0, 300_000), 'IncompleteBody', /ends too early/],
    ['no last line', good.subarray(0, -6), 'IncompleteBody', /ends too early/],
    ['nothing', Buffer.alloc(0), 'IncompleteBody', /ends too early/],
    ['no size', Buffer.from('no size\r\n'), 'IncompleteBody', /does not begin with its size/],
    ['an endless line', Buffer.alloc(100_000, 'a'), 'IncompleteBody', /line is too long/],
  ];
  for (const [what, body, code, message] of wrong) {
    const answer = await follow(link, { method: 'PUT', body, headers: unsignedHeaders(content.length) });
    assert.deepEqual([answer.status, s3Code(answer)], [400, code], `${what}: ${answer.text}`);
    assert.match(answer.text, message, what);
  }
  const bare = await follow(link, {
    method: 'PUT',
    body: good,
    headers: { 'content-encoding': 'aws-chunked' },
  });
  assert.deepEqual([bare.status, s3Code(bare)], [501, 'NotImplemented']);
  assert.match(bare.text, /aws-chunked without a x-amz-content-sha256/);
  assert.deepEqual(filesOnDisk(dataDir), []);
});

test('the content of a chunked body is stored, whatever the sizes of its chunks', async (t) => {
  const { server, link } = await start(t);
  for (const size of [1000, 65_536, content.length]) {
    const body = unsignedBody(content, size);
    const answer = await follow(link, { method: 'PUT', body, headers: unsignedHeaders(content.length) });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual((await follow(await downloadLink(server, 'a'))).bytes, content);
  }
});

test('chunks are read the same, wherever the network cuts them', () => {
  const small = content.subarray(0, 100);
  const body = unsignedBody(small, 33);
  for (let size = 1; size <= body.length; size++) {
    const chunked = new ChunkedBody({
      trailerNames: new Set([TRAILER]),
      contentBytes: small.length,
      signatures: undefined,
    });
    const pieces: Buffer[] = [];
    for (let at = 0; at < body.length; at += size) {
      pieces.push(Buffer.from(chunked.decode(Uint8Array.from(body.subarray(at, at + size)))));
    }
    chunked.end();
    assert.deepEqual(Buffer.concat(pieces), small);
    assert.equal(chunked.trailer(TRAILER), crc32Of(small));
  }
});

test('the limit of a link is one of the content', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir, maxObjectBytes: 700_000 });
  const link = await uploadLink(server, 'a');
  const put = (bytes: Buffer, stated: number) =>
    follow(link, { method: 'PUT', body: unsignedBody(bytes, 1000), headers: unsignedHeaders(stated) });
  assert.equal((await put(content, content.length)).status, 200);
  const more = Buffer.concat([content, Buffer.alloc(1)]);
  assert.equal(s3Code(await put(more, content.length)), 'EntityTooLarge');
  assert.equal(s3Code(await put(more, more.length)), 'EntityTooLarge');
});

for (const hasTrailer of [false, true]) {
  test(`signed chunks ${hasTrailer ? 'with' : 'without'} a trailer: changed ones are refused, others stored`, async (t) => {
    const { server, dataDir, link, secrets } = await start(t);
    const signing = { content, link, secrets, hasTrailer };
    const flipped = (at: number) => (body: Buffer) => {
      const changed = Buffer.from(body);
      changed[at] = (changed[at] ?? 0) ^ 1;
      return changed;
    };
    for (const change of [flipped(50_000), flipped(500_000)]) {
      const answer = await putSigned({ ...signing, change });
      assert.deepEqual([answer.status, s3Code(answer)], [403, 'SignatureDoesNotMatch'], answer.text);
    }
    const unsigned = await putSigned({ ...signing, change: () => unsignedBody(content, 65_536) });
    assert.match(unsigned.text, /chunk has no signature/);
    if (hasTrailer) {
      assert.equal(s3Code(await putSigned({ ...signing, trailer: 'AAAAAA==' })), 'BadDigest');
      const cut = await putSigned({
        ...signing,
        change: (body) =>
          Buffer.concat([body.subarray(0, body.indexOf('x-amz-trailer-signature')), Buffer.from('\r\n')]),
      });
      assert.match(cut.text, /x-amz-trailer-signature is missing/);
    }
    assert.deepEqual(filesOnDisk(dataDir), []);
    const stored = await putSigned(signing);
    assert.equal(stored.status, 200, stored.text);
    assert.deepEqual((await follow(await downloadLink(server, 'a'))).bytes, content);
  });
}
