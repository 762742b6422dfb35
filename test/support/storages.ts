// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { Config } from '../../src/base/config/options.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { loadStorageSecrets } from '../../src/state/storage/storage-secrets.js';
import { temporaryFolder } from './temporary-folder.js';
import { startTestServer, type TestServer } from './test-server.js';

export interface StorageCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A server and the means for S3 programs to reach its storage without a link. */
export interface ServerWithStorage {
  readonly server: TestServer;
  readonly endpoint: string;
  readonly credentials: StorageCredentials;
}

const swiftCredentials = { accessKeyId: 'test:tester', secretAccessKey: 'testing' };

/** An independent S3 service with a bucket called veravox. Resolves to its origin. */
export async function startSwift(t: TestContext): Promise<string> {
  const program = path.join(packageDir, 'test/support/start-swift.py');
  const folder = path.join(temporaryFolder(t), 'swift');
  const swift = spawn('/usr/bin/python3', [program, folder], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(swift, 'close');
  t.after(async () => {
    swift.kill('SIGKILL');
    await ended;
  });
  let errors = '';
  swift.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const first = await Promise.race([once(swift.stdout, 'data'), ended]);
  const port = Number(String(first[0]));
  if (!(port > 0) || swift.exitCode !== null) throw new Error(`Swift did not start: ${errors}`);
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    credentials: swiftCredentials,
    forcePathStyle: true,
  });
  await client.send(new CreateBucketCommand({ Bucket: 'veravox' }));
  client.destroy();
  return endpoint;
}

async function withBucket(
  t: TestContext,
  { endpoint, credentials }: Omit<ServerWithStorage, 'server'>,
  overrides: Partial<Config>,
): Promise<ServerWithStorage> {
  // The SDK looks there for credentials when it signs the first link.
  process.env.AWS_ACCESS_KEY_ID = credentials.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = credentials.secretAccessKey;
  const settings = { storageBucket: 'veravox', storageEndpoint: endpoint };
  const server = await startTestServer(t, { ...settings, ...overrides });
  return { server, endpoint, credentials };
}

async function withDisk(t: TestContext, overrides: Partial<Config>): Promise<ServerWithStorage> {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir, ...overrides });
  return { server, endpoint: server.origin, credentials: loadStorageSecrets(dataDir) };
}

type Start = (t: TestContext, overrides?: Partial<Config>) => Promise<ServerWithStorage>;

/** The storages for which every promise about files must hold. */
export const storages: readonly [name: string, start: Start][] = [
  ['the embedded storage', (t, overrides = {}) => withDisk(t, overrides)],
  [
    'Swift with its S3 API',
    async (t, overrides = {}) => {
      const endpoint = await startSwift(t);
      return withBucket(t, { endpoint, credentials: swiftCredentials }, overrides);
    },
  ],
];

/**
 * Also another server's embedded storage as a bucket: links lead to the storage, the server's own requests
 * use S3.
 */
export const storagesAndBetween: typeof storages = [
  ...storages,
  [
    "another server's embedded storage",
    async (t, overrides = {}) => withBucket(t, await withDisk(t, {}), overrides),
  ],
];
