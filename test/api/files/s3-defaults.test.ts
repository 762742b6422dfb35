// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import {
  type ChecksumAlgorithm,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
import { filesOnDisk, follow, uploadLink } from '../../support/file-links.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { startTestServer } from '../../support/test-server.js';

const content = randomBytes(300_000);

test('the AWS SDK for JavaScript works with its default settings', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const credentials = loadStorageSecrets(dataDir);
  const client = new S3Client({ endpoint: server.origin, region: 'us-east-1', credentials, maxAttempts: 1 });
  t.after(() => client.destroy());
  const Key = new URL(await uploadLink(server, 'a')).pathname.replace('/veravox/', '');
  const object = { Bucket: 'veravox', Key };
  const bytesOf = async () =>
    Buffer.from((await (await client.send(new GetObjectCommand(object))).Body?.transformToByteArray()) ?? []);

  const wrong = new PutObjectCommand({ ...object, Body: content, ChecksumCRC32: 'AAAAAA==' });
  await assert.rejects(client.send(wrong), { name: 'BadDigest' });
  assert.deepEqual(filesOnDisk(dataDir), []);

  const link = await getSignedUrl(client, new PutObjectCommand(object));
  assert.match(link, /x-amz-checksum-crc32/);
  assert.equal((await follow(link, { method: 'PUT', body: content })).status, 200);
  assert.deepEqual((await follow(await getSignedUrl(client, new GetObjectCommand(object)))).bytes, content);

  for (const algorithm of [undefined, 'CRC32', 'CRC32C', 'SHA1', 'SHA256'] as const) {
    const checksum = algorithm && { ChecksumAlgorithm: algorithm satisfies ChecksumAlgorithm };
    await client.send(new PutObjectCommand({ ...object, ...checksum, Body: content }));
    assert.deepEqual(await bytesOf(), content, algorithm);
    await client.send(new DeleteObjectCommand(object));
    const stream = { Body: Readable.from([content]), ContentLength: content.length };
    await client.send(new PutObjectCommand({ ...object, ...checksum, ...stream }));
    assert.deepEqual(await bytesOf(), content, algorithm);
  }
  assert.equal((await client.send(new HeadObjectCommand(object))).ContentLength, content.length);
  const Prefix = Key.slice(0, -1);
  const listed = await client.send(new ListObjectsV2Command({ Bucket: 'veravox', Prefix }));
  assert.equal(listed.Contents?.[0]?.Key, Key);
});
