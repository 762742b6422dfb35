// SPDX-License-Identifier: Apache-2.0
//
// The server reads its own links from its storage, under any of its names: none of them must lead back to it.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { ByteSource } from '../../../src/base/byte-source/byte-source.js';
import type { Config } from '../../../src/base/config/options.js';
import { signatureErrors } from '../../../src/base/contract/error-groups.js';
import { ServiceError } from '../../../src/base/errors/service-error.js';
import type { CallTimeouts } from '../../../src/base/outgoing/call-clock.js';
import { LinkSigner } from '../../../src/state/storage/link-signer.js';
import { type FileStore, openStorage } from '../../../src/state/storage/open-storage.js';
import { SigningCredentials } from '../../../src/state/storage/signing-credentials.js';
import { loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
import { eventually } from '../../support/eventually.js';
import { noise } from '../../support/form-body.js';
import { type JobServer, startJobServer } from '../../support/job-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { TestFetcher } from '../../support/test-fetcher.js';
import { testConfig } from '../../support/test-server.js';

const FILE = noise(3_000_000);

interface Started {
  readonly server: JobServer;
  readonly files: FileStore;
  readonly dataDir: string;
  /** With this content, if any. */
  link(key: string, host: string, content?: Uint8Array): Promise<string>;
}

async function start(t: TestContext, overrides: Partial<Config> = {}): Promise<Started> {
  const dataDir = temporaryFolder(t);
  const files = await openStorage({ ...testConfig, dataDir, ...overrides });
  const server = await startJobServer(
    t,
    { dataDir, ...overrides },
    {
      files,
      fetchSurroundings: { resolve: (hostname) => assert.fail(`${hostname} should not be resolved`) },
    },
  );
  return {
    server,
    files,
    dataDir,
    async link(key, requestHost, content) {
      const name = `${files.folderOf('one')}/analysis/${key}`;
      if (content !== undefined) await files.storage.write(name, content);
      return files.storage.presignGet(name, { requestHost });
    },
  };
}

const predicted = async (server: JobServer, link: string, path = '/v1/predict') => {
  const { status, headers } = await server.call('POST', path, { presigned_url: link });
  return status === 200 ? 'analysed' : headers['x-error-key'];
};

async function jobEnd(server: JobServer, link: string): Promise<unknown> {
  const { status, json, headers } = await server.call('POST', '/v1/jobs', { presigned_url: link });
  if (status !== 202) return headers['x-error-key'];
  let state = '';
  await eventually(async () => {
    ({ state } = (await server.call('GET', `/v1/jobs/${json.id}`)).json);
    return !['queued', 'running'].includes(state);
  }, 'it ends');
  return state;
}

for (const [what, settings, host] of [
  ['behind a proxy with TLS', { storagePublicUrl: 'https://voice.example:19999' }, 'ignored'],
  ['under a name that the client has used', {}, 'voice.lan:8080'],
  ['under an address of a network', { host: '127.0.0.1' }, '10.1.2.3:8080'],
] as const) {
  test(`a link ${what} is read without a request`, async (t) => {
    const { server, link } = await start(t, settings);
    const good = await link('a.wav', host, FILE);
    assert.equal(await predicted(server, good), 'analysed');
    assert.equal(await predicted(server, good, '/v0/predict'), 'analysed');
    assert.equal(await jobEnd(server, good), 'succeeded');
    assert.equal(server.arena.usedBytes, 0);
  });
}

test('what is wrong with it is told as if it had been fetched', async (t) => {
  const { server, link, dataDir } = await start(t, { maxPredictBytes: 2_000_000 });
  const host = 'voice.lan:8080';
  const good = await link('a.wav', host, Buffer.from('small'));
  const signer = new LinkSigner(new SigningCredentials(loadStorageSecrets(dataDir)));
  const name = decodeURIComponent(new URL(good).pathname).slice('/veravox/'.length);
  const request = { method: 'GET', origin: `http://${host}`, name, lifetimeS: 60 } as const;
  const expired = await signer.sign(request, new Date(Date.now() - 3_600_000));
  const foreign = await new LinkSigner(new SigningCredentials(loadStorageSecrets(temporaryFolder(t)))).sign(
    request,
  );
  for (const [bad, key] of [
    [good.replace(/.$/, good.endsWith('0') ? '1' : '0'), 'FETCH_STATUS_REFUSED'],
    [good.replace(host, 'other.lan:8080'), 'FETCH_STATUS_REFUSED'],
    [good.replace('a.wav', 'b.wav'), 'FETCH_STATUS_REFUSED'],
    [expired, 'FETCH_STATUS_REFUSED'],
    [await link('none.wav', host), 'FETCH_STATUS_REFUSED'],
    [await link('empty.wav', host, new Uint8Array(0)), 'FILE_EMPTY'],
    [await link('large.wav', host, FILE), 'FILE_TOO_LARGE'],
    [foreign, 'FETCH_HOST_REFUSED'],
    // Other paths of the server are not files.
    [good.replace('/veravox/', '/v1/'), 'FETCH_HOST_REFUSED'],
  ] as const) {
    assert.equal(await predicted(server, bad), key, bad);
  }
  assert.equal(await predicted(server, good), 'analysed');
  assert.equal(server.arena.usedBytes, 0);
});

test('for whichever reason the storage refuses it, no job is made, and of a batch one line fails', async (t) => {
  const { server, files, link } = await start(t);
  const good = await link('a.wav', 'voice.lan:8080', FILE);
  for (const key of signatureErrors) {
    const refusing = t.mock.method(files.storage, 'nameBehind', async () => {
      throw new ServiceError(key);
    });
    assert.equal(await predicted(server, good), 'FETCH_STATUS_REFUSED', key);
    assert.equal(await jobEnd(server, good), 'FETCH_STATUS_REFUSED', key);
    const lines = JSON.stringify({ presigned_url: good });
    const { json } = await server.call('POST', '/v1/batches', { lines, idempotency_key: key });
    await eventually(async () => {
      const { state, batch } = (await server.call('GET', `/v1/jobs/${json.id}`)).json;
      return state === 'succeeded' && batch.failed === 1;
    }, `the batch ends: ${key}`);
    refusing.mock.restore();
  }
});

/** A fetcher for links to a bucket with a file of ten bytes. */
function bucketFetcher(read: ByteSource['read'], timeouts: CallTimeouts): TestFetcher {
  return new TestFetcher({
    storagePrefixes: ['http://bucket.example/'],
    timeouts,
    storage: {
      isOwnLink: () => true,
      nameBehind: async () => 'a.wav',
      openSource: async () => ({ bytes: 10, identity: 'one', read, async close() {} }),
    },
  });
}

const BUCKET_LINK = 'http://bucket.example/a.wav';

test('a slow bucket may take longer for a block than for the next bytes of a link', async () => {
  const slow: ByteSource['read'] = async (into, _offset, signal) => {
    await delay(50, undefined, { signal });
    into.fill(1);
  };
  const fetcher = bucketFetcher(slow, { stallTimeoutMs: 1, totalTimeoutMs: 300_000 });
  assert.deepEqual(await fetcher.bytesOf(BUCKET_LINK), Buffer.alloc(10, 1));
});

test('a bucket that takes too long in all is a time-out', async () => {
  const silent: ByteSource['read'] = (_into, _offset, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const fetcher = bucketFetcher(silent, { stallTimeoutMs: 10, totalTimeoutMs: 100 });
  await assert.rejects(fetcher.fetch(BUCKET_LINK), {
    key: 'FETCH_TIMEOUT',
    message: /took longer than 100 ms\.$/,
  });
  assert.equal(fetcher.arena.usedBytes, 0);
});
