// SPDX-License-Identifier: Apache-2.0
//
// Uploads in parts to the data folder, and other requests of S3 programs. api/files/s3-programs.test.ts shows that the programs
// work.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import * as s3 from '@aws-sdk/client-s3';
import type { Config } from '../../../src/base/config/options.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { ownDataFolder } from '../../../src/state/data-folder/data-folder.js';
import { DiskObjects } from '../../../src/state/storage/disk-objects.js';
import { MultipartUploads } from '../../../src/state/storage/multipart-uploads.js';
import { loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
import { filesOnDisk, follow, s3Code, stored, uploadLink } from '../../support/file-links.js';
import { noise } from '../../support/form-body.js';
import { crc32Of } from '../../support/signed-chunks.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { OTHER_API_KEY, startTestServer } from '../../support/test-server.js';

const Bucket = 'veravox';

async function start(t: TestContext, overrides: Partial<Config> = {}) {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir, ...overrides });
  const client = new s3.S3Client({
    endpoint: server.origin,
    region: 'us-east-1',
    credentials: loadStorageSecrets(dataDir),
    forcePathStyle: true,
    maxAttempts: 1,
  });
  t.after(() => client.destroy());
  const nameOf = async (key: string) =>
    decodeURIComponent(new URL(await uploadLink(server, key)).pathname.replace('/veravox/', ''));
  const object = { Bucket, Key: await nameOf('a') };
  const begin = async () => {
    const { UploadId = '' } = await client.send(new s3.CreateMultipartUploadCommand(object));
    return { ...object, UploadId };
  };
  const part = async (upload: { UploadId: string }, PartNumber: number, Body: Uint8Array) => {
    const { ETag } = await client.send(new s3.UploadPartCommand({ ...object, ...upload, PartNumber, Body }));
    return { PartNumber, ETag };
  };
  const complete = (upload: { UploadId: string }, Parts: s3.CompletedPart[]) =>
    client.send(new s3.CompleteMultipartUploadCommand({ ...object, ...upload, MultipartUpload: { Parts } }));
  return { dataDir, server, client, object, nameOf, begin, part, complete };
}

/** Names in `incoming`, but for notes of ended uploads. */
const leftovers = (dataDir: string): string[] =>
  fs.readdirSync(path.join(dataDir, 'objects', 'incoming')).filter((name) => !name.endsWith('.done'));

test('a link for uploading copies nothing: its holder would read the files of others', async (t) => {
  const { server, dataDir } = await start(t);
  const secret = await stored(server, 'secret', Buffer.from('of another account'));
  const link = await uploadLink(server, 'mine', { apiKey: OTHER_API_KEY });
  const source = new URL(secret).pathname;
  for (const query of ['', `&partNumber=1&uploadId=${'0'.repeat(36)}`]) {
    const answer = await follow(link + query, { method: 'PUT', headers: { 'x-amz-copy-source': source } });
    assert.equal(answer.status, 403);
  }
  assert.equal(filesOnDisk(dataDir).length, 1);
});

test('what is wrong with an upload in parts is said in the words of S3, and nothing stored', async (t) => {
  const { dataDir, server, client, object, nameOf, begin, part, complete } = await start(t);
  const upload = await begin();
  const first = await part(upload, 1, noise(1000));
  const second = await part(upload, 2, noise(2000));
  const bytes = noise(10);
  const wrong = { ...object, ...upload, PartNumber: 3, Body: bytes, ChecksumCRC32: 'AAAAAA==' };
  await assert.rejects(client.send(new s3.UploadPartCommand(wrong)), { name: 'BadDigest' });
  for (const parts of [
    [second, first],
    [first, first],
    [first, { ...second, ETag: first.ETag }],
    [first, { ...second, PartNumber: 3 }],
    [first, { ...second, PartNumber: 20_000 }],
  ]) {
    await assert.rejects(complete(upload, parts), { name: 'InvalidPart' });
  }
  await assert.rejects(complete(upload, []), { name: 'MalformedXML' });
  for (const PartNumber of [0, 10_001]) {
    await assert.rejects(part(upload, PartNumber, bytes), { name: 'InvalidArgument' }, String(PartNumber));
  }
  const elsewhere = { ...upload, Key: await nameOf('b') };
  const unknown = ['0'.repeat(36), '../secret', '.', 'x'.repeat(36)].map((UploadId) => ({
    ...object,
    UploadId,
  }));
  for (const other of [elsewhere, ...unknown]) {
    const refused = { name: 'NoSuchUpload' };
    await assert.rejects(part(other, 1, bytes), refused);
    await assert.rejects(complete(other, [first]), refused);
    await assert.rejects(client.send(new s3.AbortMultipartUploadCommand(other)), refused);
  }
  assert.deepEqual(
    filesOnDisk(dataDir).filter((file) => !file.startsWith('incoming')),
    [],
  );
  await client.send(new s3.AbortMultipartUploadCommand(upload));
  await assert.rejects(part(upload, 3, bytes), { name: 'NoSuchUpload' });
  assert.deepEqual(leftovers(dataDir), []);
  const bare = await follow(`${server.origin}/veravox/${object.Key}?uploads`, { method: 'POST' });
  assert.deepEqual([bare.status, s3Code(bare)], [403, 'AccessDenied']);
});

test('what the end of an upload in parts states of the whole file is checked', async (t) => {
  const { dataDir, client, object, begin, part } = await start(t);
  const upload = await begin();
  const pieces = [noise(1000), noise(2000)];
  const whole = Buffer.concat(pieces);
  const Parts = [await part(upload, 1, whole.subarray(0, 1000)), await part(upload, 2, whole.subarray(1000))];
  const complete = (stated: Partial<s3.CompleteMultipartUploadCommandInput>) =>
    client.send(new s3.CompleteMultipartUploadCommand({ ...upload, ...stated, MultipartUpload: { Parts } }));
  const digest = (algorithm: string, bytes: Uint8Array): string =>
    createHash(algorithm).update(bytes).digest('base64');
  const wrong = { name: 'BadDigest' };
  await assert.rejects(complete({ ChecksumCRC32: crc32Of(noise(10)), ChecksumType: 'FULL_OBJECT' }), wrong);
  await assert.rejects(complete({ ChecksumSHA256: digest('sha256', noise(10)) }), wrong);
  const composite = { ChecksumSHA256: `${digest('sha256', whole)}-2`, ChecksumType: 'COMPOSITE' } as const;
  await assert.rejects(complete(composite), { name: 'NotImplemented' });
  for (const MpuObjectSize of [2999, 3001])
    await assert.rejects(complete({ MpuObjectSize }), { name: 'InvalidArgument' });
  assert.deepEqual(
    filesOnDisk(dataDir).filter((file) => !file.startsWith('incoming')),
    [],
  );
  await complete({
    ChecksumCRC32: crc32Of(whole),
    ChecksumSHA1: digest('sha1', whole),
    ChecksumType: 'FULL_OBJECT',
    MpuObjectSize: 3000,
  });
  const { Body } = await client.send(new s3.GetObjectCommand(object));
  assert.deepEqual(Buffer.from((await Body?.transformToByteArray()) ?? []), whole);
});

test('the parts together keep the limits of a file and of an account', async (t) => {
  const { dataDir, begin, part, complete } = await start(t, { maxObjectBytes: 5000, accountMaxBytes: 4000 });
  const upload = await begin();
  await assert.rejects(part(upload, 1, noise(5001)), { name: 'EntityTooLarge' });
  await assert.rejects(part(upload, 1, noise(4001)), { name: 'QuotaExceeded' });
  const parts = [await part(upload, 1, noise(3000)), await part(upload, 2, noise(1001))];
  await assert.rejects(complete(upload, parts), { name: 'QuotaExceeded' });
  const third = await part(upload, 3, noise(2000));
  await assert.rejects(complete(upload, [...parts, third]), { name: 'EntityTooLarge' });
  assert.ok((await complete(upload, [parts[0] ?? third])).ETag);
  assert.equal(filesOnDisk(dataDir).length, 1, 'parts that are left out are removed');
});

test('an upload in parts that nobody ends is removed after a day, and by a start of the server', async (t) => {
  const { dataDir, begin, part } = await start(t);
  const idle = await begin();
  await part(idle, 1, noise(10));
  const busy = await begin();
  const yesterday = new Date(Date.now() - 25 * 3600 * 1000);
  fs.utimesSync(path.join(dataDir, 'objects', 'incoming', idle.UploadId), yesterday, yesterday);
  const last = await begin();
  assert.deepEqual(leftovers(dataDir).sort(), [busy.UploadId, last.UploadId].sort());
  (await ownDataFolder(dataDir)).release();
  assert.deepEqual(leftovers(dataDir), []);
});

test('what was replaced in between is neither read nor copied', async (t) => {
  const { server, client, object } = await start(t);
  await stored(server, 'a', noise(100));
  const { ETag } = await client.send(new s3.HeadObjectCommand(object));
  const CopySource = `/veravox/${object.Key}`;
  const read = () => client.send(new s3.GetObjectCommand({ ...object, IfMatch: ETag, Range: 'bytes=0-9' }));
  const copy = () =>
    client.send(new s3.CopyObjectCommand({ ...object, CopySource, CopySourceIfMatch: ETag }));
  await (await read()).Body?.transformToByteArray();
  await copy();
  await stored(server, 'a', Buffer.from('another one'));
  await assert.rejects(read(), { name: 'PreconditionFailed' });
  await assert.rejects(copy(), { name: 'PreconditionFailed' });
});

test('names that are deleted together: those that cannot be names are told, the others gone', async (t) => {
  const { dataDir, server, client, nameOf } = await start(t);
  await stored(server, 'a & <b>', noise(10));
  const Objects = [
    { Key: await nameOf('a & <b>') },
    { Key: await nameOf('never there') },
    { Key: 'no name' },
  ];
  const { Deleted, Errors } = await client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  assert.deepEqual(
    Deleted?.map(({ Key }) => Key),
    Objects.slice(0, 2).map(({ Key }) => Key),
  );
  assert.deepEqual(
    Errors?.map(({ Key, Code }) => [Key, Code]),
    [['no name', 'NoSuchKey']],
  );
  assert.deepEqual(filesOnDisk(dataDir), []);
  const many = Array.from({ length: 1001 }, () => ({ Key: 'x' }));
  for (const wrong of [[], many]) {
    const sending = client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects: wrong } }));
    await assert.rejects(sending, { name: 'MalformedXML' });
  }
});

test('an upload ends once, whoever ends it while its parts come, and leaves nothing', async (t) => {
  const dataDir = temporaryFolder(t);
  const objects = await DiskObjects.open({
    dataDir,
    quota: { maxBytes: 0, maxObjects: 0 },
    reserveBytes: 0,
    ttlDays: 0,
  });
  const uploads = new MultipartUploads(path.join(dataDir, 'objects', 'incoming'), objects);
  const name = `${'0'.repeat(32)}/analysis/a`;
  const part = async (uploadId: string, number: number) => {
    const upload = await uploads.beginPart(name, { uploadId, number }, [], 0);
    try {
      return { number, md5: await upload.finish() };
    } catch (error) {
      await upload.discard();
      throw error;
    }
  };
  const complete = async (id: string) => uploads.complete(name, id, [await part(id, 1)], { maxBytes: 1 });
  const abort = (id: string) => uploads.abort(name, id);
  for (const ends of [[abort], [complete], [abort, abort], [complete, complete], [complete, abort]]) {
    const id = await uploads.begin(name);
    for (let number = 2; number < 8; number++) await part(id, number);
    const later = Array.from({ length: 32 }, (_, i) => () => part(id, i + 8));
    const all = [...later.slice(16), ...ends.map((end) => () => end(id)), ...later.slice(0, 16)];
    const ended = await Promise.allSettled(all.map((each) => each()));
    for (const end of ended) {
      if (end.status === 'rejected')
        assert.equal(end.reason.key, 'OBJECT_UPLOAD_NOT_FOUND', end.reason.cause);
    }
    assert.deepEqual(leftovers(dataDir), []);
  }
  const elsewhere = new MultipartUploads(path.join(dataDir, 'objects', 'incoming'), objects);
  for (const isCompleted of [true, false]) {
    const id = await uploads.begin(name);
    const parts = [await part(id, 1)];
    const end = () =>
      isCompleted ? elsewhere.complete(name, id, parts, { maxBytes: 1 }) : elsewhere.abort(name, id);
    const { begin } = objects;
    // Another process ends it between two steps of this process.
    const beginning = t.mock.method(objects, 'begin', async (...given: Parameters<typeof begin>) => {
      beginning.mock.restore();
      await end();
      return begin.apply(objects, given);
    });
    const completing = uploads.complete(name, id, parts, { maxBytes: 1 });
    if (isCompleted) assert.equal(await completing, parts[0]?.md5);
    else await assert.rejects(completing, { key: 'OBJECT_UPLOAD_NOT_FOUND' });
    assert.deepEqual(leftovers(dataDir), []);
  }
});

test('the end of an upload in parts can be repeated, while the parts are joined and later', async (t) => {
  const { dataDir, begin, part, complete } = await start(t);
  const upload = await begin();
  const parts = [await part(upload, 1, noise(1000)), await part(upload, 2, noise(2000))];
  const beginning = t.mock.method(DiskObjects.prototype, 'begin');
  const answers = await Promise.all([complete(upload, parts), complete(upload, parts)]);
  answers.push(await complete(upload, parts));
  assert.equal(new Set(answers.map(({ ETag }) => ETag)).size, 1);
  assert.ok(answers[0]?.ETag);
  assert.equal(beginning.mock.callCount(), 1, 'the parts are joined twice');
  const refused = { name: 'NoSuchUpload' };
  await assert.rejects(complete(upload, parts.slice(1)), refused, 'other parts');
  const incoming = path.join(dataDir, 'objects', 'incoming');
  const [note = ''] = fs.readdirSync(incoming);
  const hourAgo = new Date(Date.now() - 3600 * 1000);
  fs.utimesSync(path.join(incoming, note), hourAgo, hourAgo);
  const { UploadId } = await begin();
  assert.deepEqual(fs.readdirSync(incoming), [UploadId], 'notes are removed after a while');
  await assert.rejects(complete(upload, parts), refused);
});

test('a range to copy is copied exactly, or refused', async (t) => {
  const { server, client, object, begin } = await start(t);
  await stored(server, 'a', Buffer.from('0123456789'));
  const copy = async (CopySourceRange?: string) => {
    const upload = { ...(await begin()), PartNumber: 1, CopySource: `/veravox/${object.Key}` };
    const { CopyPartResult } = await client.send(
      new s3.UploadPartCopyCommand({ ...upload, CopySourceRange }),
    );
    return CopyPartResult?.ETag;
  };
  const etagOf = (text: string): string => `"${createHash('md5').update(text).digest('hex')}"`;
  assert.equal(await copy(), etagOf('0123456789'));
  assert.equal(await copy('bytes=2-4'), etagOf('234'));
  for (const range of ['2-4', 'bytes=4-2', 'bytes=0-1,3-4', 'bytes=a-b', 'octets=0-1']) {
    await assert.rejects(copy(range), { name: 'InvalidArgument' }, range);
  }
  await assert.rejects(copy('bytes=10-11'), { name: 'InvalidRange' });
});

/** Served; api/files/s3-programs.test.ts sends them. */
const served = new Set([
  'AbortMultipartUpload',
  'CompleteMultipartUpload',
  'CopyObject',
  'CreateBucket',
  'CreateMultipartUpload',
  'DeleteObject',
  'DeleteObjects',
  'GetBucketLocation',
  'GetBucketVersioning',
  'GetObject',
  'HeadBucket',
  'HeadObject',
  'ListBuckets',
  'ListObjects',
  'ListObjectsV2',
  'PutObject',
  'UploadPart',
  'UploadPartCopy',
]);
/** They go to other hosts, or have no bucket. */
const elsewhere = new Set(['WriteGetObjectResponse', 'ListDirectoryBuckets']);

const others = Object.entries(s3).flatMap(([name, value]) => {
  const [, operation] = /^([A-Z].*)Command$/.exec(name) ?? [];
  return operation === undefined ? [] : [[operation, value as typeof s3.GetObjectAclCommand] as const];
});

test('every other operation of S3 is refused with 501 NotImplemented, and leaves the file as it is', async (t) => {
  const { server, client, object } = await start(t);
  const content = noise(100);
  const link = await stored(server, 'a', content);
  const input = {
    ...object,
    UploadId: '0'.repeat(36),
    Prefix: object.Key,
    Id: 'x',
    RenameSource: '/veravox/b',
  };
  let count = 0;
  for (const [operation, Command] of others) {
    if (served.has(operation) || elsewhere.has(operation)) continue;
    const error = await client.send(new Command(input)).then(
      () => assert.fail(`${operation} was served.`),
      (failure: { $metadata?: { httpStatusCode?: number }; name: string }) => failure,
    );
    assert.equal(error.$metadata?.httpStatusCode, 501, `${operation}: ${error}`);
    count++;
  }
  assert.ok(count > 60, String(count));
  assert.deepEqual((await follow(link)).bytes, content);
});

test('docs/files.md lists the served operations', () => {
  const page = fs.readFileSync(path.join(packageDir, 'docs/files.md'), 'utf8');
  const [, list = ''] = /^Served calls: (.*?)`if-match`/ms.exec(page) ?? [];
  const listed = [...list.matchAll(/`([A-Z]\w+)`/g)].map(([, name]) => name);
  assert.deepEqual(listed.sort(), [...served].sort());
});

test('a deletion under a condition is refused, and leaves the file', async (t) => {
  const { server, client, object } = await start(t);
  const content = noise(100);
  const link = await stored(server, 'a', content);
  const refused = { name: 'NotImplemented' };
  const conditions = [
    { ETag: 'x' },
    { Size: 1 },
    { LastModifiedTime: new Date(0) },
    { VersionId: 'x' },
  ] as const;
  for (const condition of conditions) {
    const Delete = { Objects: [{ Key: object.Key, ...condition }] };
    await assert.rejects(client.send(new s3.DeleteObjectsCommand({ Bucket, Delete })), refused);
  }
  for (const condition of [
    { IfMatch: 'x' },
    { IfMatchSize: 1 },
    { IfMatchLastModifiedTime: new Date(0) },
    { MFA: 'x' },
    { BypassGovernanceRetention: true },
  ]) {
    await assert.rejects(client.send(new s3.DeleteObjectCommand({ ...object, ...condition })), refused);
  }
  assert.deepEqual((await follow(link)).bytes, content);
});

test('a request for a bucket of somebody else, or with a key for decryption, is refused', async (t) => {
  const { server, client, object } = await start(t);
  const link = await stored(server, 'a', noise(100));
  const ExpectedBucketOwner = '111122223333';
  const given = { ...object, Prefix: object.Key, ExpectedBucketOwner };
  const CopySource = `/veravox/${object.Key}`;
  const sendings: readonly (() => Promise<unknown>)[] = [
    () => client.send(new s3.GetObjectCommand(given)),
    () => client.send(new s3.HeadObjectCommand(given)),
    () => client.send(new s3.PutObjectCommand({ ...given, Body: 'x' })),
    () => client.send(new s3.DeleteObjectCommand(given)),
    () => client.send(new s3.ListObjectsV2Command(given)),
    () => client.send(new s3.HeadBucketCommand(given)),
    () => client.send(new s3.DeleteObjectsCommand({ ...given, Delete: { Objects: [{ Key: object.Key }] } })),
    () => client.send(new s3.CopyObjectCommand({ ...object, CopySource, ExpectedSourceBucketOwner: '1' })),
    () => client.send(new s3.GetObjectCommand({ ...object, SSECustomerAlgorithm: 'AES256' })),
    () =>
      client.send(
        new s3.CopyObjectCommand({ ...object, CopySource, CopySourceSSECustomerAlgorithm: 'AES256' }),
      ),
  ];
  for (const [i, send] of sendings.entries()) {
    const status = await send().then(
      () => 200,
      (error: { $metadata?: { httpStatusCode?: number } }) => error.$metadata?.httpStatusCode,
    );
    assert.equal(status, 501, String(i));
  }
  assert.equal((await follow(link)).bytes.length, 100);
});

test('a part of a file, or compressed bytes, do not replace a file, and forms are refused by name', async (t) => {
  const { server, dataDir } = await start(t);
  const content = noise(100);
  const get = await stored(server, 'a', content);
  const link = await uploadLink(server, 'a');
  for (const [name, value] of [
    // As of `curl --continue-at`.
    ['content-range', 'bytes 50-99/100'],
    ['content-encoding', 'gzip'],
    ['content-encoding', 'gzip,aws-chunked'],
    ['if-match', '"x"'],
    ['if-none-match', '*'],
    ['if-unmodified-since', 'Fri, 27 Nov 2020 00:00:00 GMT'],
    ['x-amz-storage-class', 'GLACIER'],
  ] as const) {
    const answer = await follow(link, { method: 'PUT', body: noise(50), headers: { [name]: value } });
    assert.deepEqual([answer.status, s3Code(answer)], [501, 'NotImplemented'], name);
    assert.ok(answer.text.includes(name.replace('x-amz-storage-class', 'storage class')), answer.text);
  }
  const form = await follow(`${server.origin}/veravox/`, {
    method: 'POST',
    body: Buffer.from('--x--'),
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
  });
  assert.deepEqual([form.status, s3Code(form)], [501, 'NotImplemented']);
  assert.match(form.text, /forms/);
  assert.deepEqual((await follow(get)).bytes, content);
  const headers = { 'content-encoding': 'identity', 'x-amz-storage-class': 'STANDARD' };
  assert.equal((await follow(link, { method: 'PUT', body: content, headers })).status, 200);
  assert.equal(filesOnDisk(dataDir).length, 1);
});

test('a header that asks for what the storage does not do is refused, metadata is not', async (t) => {
  const { client, object } = await start(t);
  for (const header of [
    { Tagging: 'a=b' },
    { ACL: 'public-read' },
    { ServerSideEncryption: 'AES256' },
    { ObjectLockMode: 'GOVERNANCE' },
    { WebsiteRedirectLocation: '/x' },
    { GrantRead: 'id=1' },
    { IfNoneMatch: '*' },
    { IfMatch: 'x' },
  ] as const) {
    const refused = { name: 'NotImplemented' };
    const given = { ...object, ...header };
    await assert.rejects(client.send(new s3.PutObjectCommand({ ...given, Body: 'x' })), refused);
    if (!('IfMatch' in header) && !('IfNoneMatch' in header))
      await assert.rejects(client.send(new s3.CreateMultipartUploadCommand(given)), refused);
  }
  await client.send(new s3.PutObjectCommand({ ...object, Body: 'x', Metadata: { mtime: '1' } }));
});
