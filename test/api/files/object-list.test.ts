// SPDX-License-Identifier: Apache-2.0
//
// S3 programs list the embedded storage. The tests on storagesAndBetween show the same for other servers.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { ListObjectsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { pieceOfEntry } from '../../../src/state/storage/object-name.js';
import { loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
import { downloadLinks, s3Code, stored } from '../../support/file-links.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { startTestServer } from '../../support/test-server.js';

const KEYS = ['a & b.wav', 'a/<é> "\'.wav', 'a/b', 'b', 'c%20d+e'];

async function start(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const credentials = loadStorageSecrets(dataDir);
  const s3 = new S3Client({
    endpoint: server.origin,
    region: 'us-east-1',
    credentials,
    forcePathStyle: true,
    maxAttempts: 1,
  });
  t.after(() => s3.destroy());
  for (const [i, key] of KEYS.entries()) await stored(server, key, Buffer.alloc(i));
  const { searchParams: _, pathname } = new URL((await downloadLinks(server, 'b'))[0]?.value ?? '');
  /** The account's folder and the entity. */
  const folder = pathname.slice('/veravox/'.length, -'b'.length);
  const list = (parameters: object) =>
    s3.send(new ListObjectsV2Command({ Bucket: 'veravox', Prefix: folder, ...parameters }));
  return { dataDir, server, credentials, s3, folder, list };
}

test('names and sizes come in the order of the names, as many as were asked for', async (t) => {
  const { folder, list } = await start(t);
  const wanted = KEYS.map((key, i) => ({ Key: folder + key, Size: i }));
  for (const EncodingType of [undefined, 'url'] as const) {
    const { Contents = [], IsTruncated, KeyCount } = await list({ EncodingType });
    const found = Contents.map(({ Key = '', Size }) => ({
      Key: EncodingType === 'url' ? decodeURIComponent(Key) : Key,
      Size,
    }));
    assert.deepEqual(found, wanted);
    assert.deepEqual([IsTruncated, KeyCount], [false, KEYS.length]);
  }
  const { Contents = [], IsTruncated } = await list({ MaxKeys: 2, Prefix: `${folder}a` });
  assert.deepEqual(
    Contents.map(({ Key }) => Key),
    [folder + KEYS[0], folder + KEYS[1]],
  );
  assert.equal(IsTruncated, true);
  assert.equal((await list({ MaxKeys: 0 })).KeyCount, 0);
  assert.equal((await list({ Prefix: `${folder}nothing` })).KeyCount, 0);
});

test('pages of any size, and folders, hold the same as one list', async (t) => {
  const { dataDir, server, folder, list } = await start(t);
  // Longer than a file name on disk; some end with a slash.
  const long = [
    'l'.repeat(60),
    `${'l'.repeat(60)}/x`,
    `${'l'.repeat(59)}/y`,
    `${'m'.repeat(130)}/a/b`,
    `n/${'n'.repeat(70)}`,
  ];
  for (const key of long) await stored(server, key, Buffer.alloc(1));
  // Earlier versions left the folders of deleted files.
  for (const gone of ['k'.repeat(60), `k/${'k'.repeat(58)}`, `n/${'a'.repeat(58)}`, `n/${'z'.repeat(58)}`]) {
    const left = `${Buffer.from(gone).toString('hex')}~`;
    fs.mkdirSync(path.join(dataDir, 'objects', folder, left, left), { recursive: true });
  }
  const order = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const keys = [...KEYS, ...long].sort(order);
  const top = [...new Set(keys.map((key) => key.replace(/\/.*/s, '/')))].sort(order);
  for (const [Delimiter, wanted] of [
    [undefined, keys],
    ['/', top],
  ] as const) {
    for (const MaxKeys of [1, 2, 3, 100]) {
      const found: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const answer = await list({ Delimiter, MaxKeys, ContinuationToken });
        const items = [
          ...(answer.Contents ?? []).map(({ Key = '' }) => Key),
          ...(answer.CommonPrefixes ?? []).map(({ Prefix = '' }) => Prefix),
        ];
        found.push(...items.map((item) => item.slice(folder.length)).sort(order));
        ContinuationToken = answer.NextContinuationToken;
      } while (ContinuationToken !== undefined);
      assert.deepEqual(found, wanted, `${Delimiter} ${MaxKeys}`);
    }
  }
  for (const [i, key] of keys.entries()) {
    const { Contents = [] } = await list({ StartAfter: folder + key });
    assert.equal(Contents.length, keys.length - i - 1, key);
  }
  // Also keys within a folder, whose later ones are still its.
  const starts = [
    ...keys.flatMap((key) => [key, `${key}!`, `${key}~`]),
    'a/;',
    `${'l'.repeat(59)}/x`,
    `${'l'.repeat(60)}/w`,
  ];
  for (const after of starts) {
    const later = keys.filter((key) => order(key, after) > 0);
    const wanted = [...new Set(later.map((key) => key.replace(/\/.*/s, '/')))].sort(order);
    const { Contents = [], CommonPrefixes = [] } = await list({ StartAfter: folder + after, Delimiter: '/' });
    const names = [
      ...Contents.map(({ Key = '' }) => Key),
      ...CommonPrefixes.map(({ Prefix = '' }) => Prefix),
    ];
    assert.deepEqual(names.map((name) => name.slice(folder.length)).sort(order), wanted, after);
  }
  assert.equal((await list({ StartAfter: 'zzz' })).KeyCount, 0);
  for (const before of ['/', `!${'z'.repeat(100)}`, folder]) {
    assert.equal((await list({ StartAfter: before })).KeyCount, keys.length, before);
  }
});

test('a file that is deleted while its folder is listed is left out', async (t) => {
  const { dataDir, list } = await start(t);
  const files = fs.readdirSync(path.join(dataDir, 'objects'), { recursive: true, withFileTypes: true });
  const file = files.find((each) => each.isFile() && pieceOfEntry(each.name)?.hex === '62');
  assert.ok(file);
  const gone = path.join(file.parentPath, file.name);
  // Its name is listed, but the file is gone: as between reading the folder and looking at the file.
  fs.rmSync(gone);
  fs.symlinkSync('nowhere', gone);
  const { Contents = [] } = await list({});
  assert.equal(Contents.length, KEYS.length - 1);
  for (const MaxKeys of [1, 2, 3]) {
    let listed = 0;
    let ContinuationToken: string | undefined;
    do {
      const page = await list({ MaxKeys, ContinuationToken });
      listed += page.Contents?.length ?? 0;
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    assert.equal(listed, KEYS.length - 1, `pages of ${MaxKeys}`);
  }
});

test('a value that a list cannot have is refused, and so is a token that another list gave', async (t) => {
  const { server, s3, folder, list } = await start(t);
  const refused = (sending: Promise<unknown>, what: string) =>
    assert.rejects(sending, { name: 'InvalidArgument' }, what);
  const { NextContinuationToken = '' } = await list({ MaxKeys: 1, Prefix: `${folder}a` });
  assert.equal((await list({ Prefix: `${folder}a`, ContinuationToken: NextContinuationToken })).KeyCount, 2);
  const elsewhere = Buffer.from(`${'0'.repeat(32)}/analysis/a`).toString('base64url');
  for (const ContinuationToken of ['zzz', '!', `${NextContinuationToken}=`, elsewhere])
    await refused(list({ ContinuationToken }), ContinuationToken);
  await refused(list({ Prefix: `${folder}b`, ContinuationToken: NextContinuationToken }), 'another prefix');
  for (const MaxKeys of [-1, 1.5, 2 ** 31]) await refused(list({ MaxKeys }), String(MaxKeys));
  await refused(list({ EncodingType: 'base64' }), 'another encoding');
  assert.equal((await list({ MaxKeys: 2 ** 31 - 1 })).KeyCount, KEYS.length);
  const first = await s3.send(new ListObjectsCommand({ Bucket: 'veravox', Prefix: folder, MaxKeys: 0 }));
  assert.deepEqual([first.Contents, first.IsTruncated], [undefined, false]);
  assert.equal(server.log.filter(({ status }) => Number(status) >= 500).length, 0);
});

test('boto3 lists them, too', async (t) => {
  const { server, credentials, folder } = await start(t);
  const program = `
import json, sys, boto3
from botocore.config import Config
endpoint, access, secret, prefix = sys.argv[1:]
client = boto3.client('s3', endpoint_url=endpoint, aws_access_key_id=access, aws_secret_access_key=secret,
    region_name='us-east-1', config=Config(s3={'addressing_style': 'path'}))
answer = client.list_objects_v2(Bucket='veravox', Prefix=prefix)
print(json.dumps([one['Key'] for one in answer['Contents']]))`;
  const args = ['-c', program, server.origin, credentials.accessKeyId, credentials.secretAccessKey, folder];
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', LC_ALL: 'C.UTF-8' };
  const { stdout } = await promisify(execFile)('/usr/bin/python3', args, { env });
  assert.deepEqual(
    JSON.parse(stdout),
    KEYS.map((key) => folder + key),
  );
});

test('what is not one account and entity, and what is not supported, is refused', async (t) => {
  const { s3, folder, list } = await start(t);
  const refused = (sending: Promise<unknown>) => assert.rejects(sending, { name: 'NotImplemented' });
  for (const Prefix of ['', folder.slice(0, 33), `${folder}../results/`, `${folder}a/../../`, `/${folder}`])
    await refused(list({ Prefix }));
  await refused(list({ Delimiter: '-' }));
  await refused(s3.send(new ListObjectsCommand({ Bucket: 'veravox' })));
});

test('strangers learn nothing', async (t) => {
  const { server, folder } = await start(t);
  for (const path of ['/veravox', '/veravox/']) {
    const url = `${server.origin}${path}?list-type=2&prefix=${encodeURIComponent(folder)}`;
    const answer = await fetch(url);
    assert.equal(answer.status, 403);
    assert.equal(s3Code({ text: await answer.text() } as never), 'AccessDenied');
  }
  const other = new S3Client({
    endpoint: server.origin,
    region: 'us-east-1',
    credentials: { accessKeyId: loadStorageSecrets(temporaryFolder(t)).accessKeyId, secretAccessKey: 'x' },
    forcePathStyle: true,
    maxAttempts: 1,
  });
  t.after(() => other.destroy());
  const list = new ListObjectsV2Command({ Bucket: 'veravox', Prefix: folder });
  await assert.rejects(other.send(list), { name: 'InvalidAccessKeyId' });
});
