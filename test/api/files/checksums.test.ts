// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type ChecksumAlgorithm, runningChecksum } from '../../../src/state/storage/checksums.js';
import { s3Signer } from '../../../src/state/storage/signature.js';
import { loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
import { filesOnDisk, follow, s3Code, uploadLink } from '../../support/file-links.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { startTestServer } from '../../support/test-server.js';

const content = Buffer.from('123456789');
/** The check values for these nine digits in the catalogue of CRCs. */
const published: readonly (readonly [ChecksumAlgorithm, string])[] = [
  ['crc32', 'cbf43926'],
  ['crc32c', 'e3069283'],
  ['crc64nvme', 'ae8b14860a799888'],
];
const right: readonly (readonly [string, string])[] = [
  ...published.map(([name, hex]) => [name, Buffer.from(hex, 'hex').toString('base64')] as const),
  ...['md5', 'sha1', 'sha256', 'sha512'].map(
    (name) => [name, createHash(name).update(content).digest('base64')] as const,
  ),
];

test('checksums have their published values, in one piece or in many', () => {
  for (const [algorithm, hex] of published) {
    const whole = runningChecksum(algorithm);
    whole.update(content);
    const pieces = runningChecksum(algorithm);
    for (const byte of content) pieces.update(Uint8Array.of(byte));
    assert.deepEqual(
      [whole.digest().toString('hex'), pieces.digest().toString('hex')],
      [hex, hex],
      algorithm,
    );
  }
});

test("the CRC-32 of a megabyte is that of Python's zlib", () => {
  const bytes = randomBytes(1_000_000);
  const checksum = runningChecksum('crc32');
  for (let at = 0; at < bytes.length; at += 65_537) checksum.update(bytes.subarray(at, at + 65_537));
  const program = 'import sys, zlib; print("%08x" % zlib.crc32(sys.stdin.buffer.read()))';
  const theirs = execFileSync('/usr/bin/python3', ['-c', program], { input: bytes, encoding: 'utf8' });
  assert.equal(checksum.digest().toString('hex'), theirs.trim());
});

test('a checksum that the content does not have is refused by name, and nothing stored', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const link = await uploadLink(server, 'a');
  for (const [name, checksum] of right) {
    const header = `x-amz-checksum-${name}`;
    const wrong = Buffer.alloc(Buffer.from(checksum, 'base64').length).toString('base64');
    for (const value of [wrong, '', 'no Base64', `${checksum}=`]) {
      const answer = await follow(link, { method: 'PUT', body: content, headers: { [header]: value } });
      assert.deepEqual([answer.status, s3Code(answer)], [400, 'BadDigest'], `${header}: ${value}`);
      assert.ok(answer.text.includes(header), answer.text);
    }
  }
  assert.deepEqual(filesOnDisk(dataDir), []);
});

test('a right checksum is taken, and one wrong among several is not', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const link = await uploadLink(server, 'a');
  const headers = Object.fromEntries(right.map(([name, checksum]) => [`x-amz-checksum-${name}`, checksum]));
  const put = (given: Record<string, string>) =>
    follow(link, { method: 'PUT', body: content, headers: given });
  assert.equal(s3Code(await put({ ...headers, 'x-amz-checksum-sha1': 'AAAA' })), 'BadDigest');
  assert.deepEqual(filesOnDisk(dataDir), []);
  for (const [name, value] of Object.entries(headers)) {
    const answer = await put({ [name]: value, 'x-amz-sdk-checksum-algorithm': 'ANY' });
    assert.equal(answer.status, 200, answer.text);
  }
  assert.equal((await put({ ...headers, 'x-amz-checksum-type': 'FULL_OBJECT' })).status, 200);
});

test('a checksum of a kind that cannot be checked is refused by name', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const headers = { 'x-amz-checksum-xxhash64': 'AAAAAAAAAAA=' };
  const answer = await follow(await uploadLink(server, 'a'), { method: 'PUT', body: content, headers });
  assert.deepEqual([answer.status, s3Code(answer)], [501, 'NotImplemented']);
  assert.match(answer.text, /x-amz-checksum-xxhash64/);
  assert.deepEqual(filesOnDisk(dataDir), []);
});

test('the SHA-256 that x-amz-content-sha256 states is checked on links, too, signed or not', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const link = await uploadLink(server, 'a');
  const { host, pathname } = new URL(link);
  const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
  const put = (target: string, payload: string) =>
    follow(target, { method: 'PUT', body: content, headers: { 'x-amz-content-sha256': payload } });
  /** Made by the signer of the AWS SDK, with the payload in the query or among the signed headers. */
  const linkFor = async (payload: string, isInQuery: boolean): Promise<string> => {
    const names = new Set(isInQuery ? ['host'] : ['host', 'x-amz-content-sha256']);
    const signed = await (await s3Signer(loadStorageSecrets(dataDir))).presign(
      {
        method: 'PUT',
        protocol: 'http:',
        hostname: host,
        path: pathname,
        // The signer takes the name over into the query.
        headers: { host, [isInQuery ? 'X-Amz-Content-Sha256' : 'x-amz-content-sha256']: payload },
      },
      { unhoistableHeaders: isInQuery ? new Set() : names, signableHeaders: names, expiresIn: 60 },
    );
    const query = Object.entries(signed.query ?? {}).map(([k, v]) => `${k}=${encodeURIComponent(String(v))}`);
    return `${server.origin}${pathname}?${query.join('&')}`;
  };
  const right = hashOf(content);
  const wrong = hashOf(Buffer.from('another'));
  const mismatch = [400, 'XAmzContentSHA256Mismatch'];
  for (const [what, target, sent, wanted] of [
    ['a wrong one', link, wrong, mismatch],
    ['a wrong one among the signed headers', await linkFor(wrong, false), wrong, mismatch],
    ['a wrong one in the query', await linkFor(wrong, true), wrong, mismatch],
    ['two different ones', await linkFor(right, true), wrong, [400, 'InvalidArgument']],
    ['no hash', link, 'abc', [400, 'InvalidArgument']],
    ['nothing', link, '', [400, 'InvalidArgument']],
    ['another way of chunks', link, 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', [501, 'NotImplemented']],
  ] as const) {
    const answer = await put(target, sent);
    assert.deepEqual([answer.status, s3Code(answer)], wanted, `${what}: ${answer.text}`);
    assert.match(answer.text, /x-amz-content-sha256/, what);
  }
  assert.deepEqual(filesOnDisk(dataDir), []);
  for (const [target, sent] of [
    [link, right],
    [link, 'UNSIGNED-PAYLOAD'],
    [await linkFor(right, false), right],
    [await linkFor(right, true), right],
  ] as const) {
    const answer = await put(target, sent);
    assert.equal(answer.status, 200, `${target} ${sent}: ${answer.text}`);
  }
});
