// SPDX-License-Identifier: Apache-2.0
//
// A bucket that is missing, refuses the credentials or belongs to hosts with another secret is reported at once, and by
// /readyz.
import assert from 'node:assert/strict';
import type http from 'node:http';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { BucketWatch } from '../../../src/state/storage/bucket-watch.js';
import { S3Storage } from '../../../src/state/storage/s3-storage.js';
import { eventually } from '../../support/eventually.js';
import { startFakeStorage } from '../../support/fake-storage.js';
import { getFile } from '../../support/file-links.js';
import { request } from '../../support/http-client.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { ADMIN_API_KEY, startServerWith, startTestServer, testConfig } from '../../support/test-server.js';

process.env.AWS_ACCESS_KEY_ID = 'an-id';
process.env.AWS_SECRET_ACCESS_KEY = 'a-secret';

type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void;

const refusal =
  (status: number, code: string): Answer =>
  (_, response) =>
    response
      .writeHead(status, { 'content-type': 'application/xml' })
      .end(`<Error><Code>${code}</Code></Error>`);

/** One bucket that stores notes, and can be made to fail. */
async function startBucket(t: TestContext) {
  const objects = new Map<string, Buffer>();
  const state: { fails: Answer | undefined } = { fails: undefined };
  const storage = await startFakeStorage(t, (request, response) => {
    if (state.fails !== undefined) {
      state.fails(request, response);
      return;
    }
    const name = new URL(request.url ?? '', 'http://x').pathname;
    if (request.method === 'PUT') {
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        objects.set(name, Buffer.concat(chunks));
        response.writeHead(200, { etag: '"e"' }).end();
      });
      return;
    }
    const found = objects.get(name);
    if (found === undefined) refusal(404, 'NoSuchKey')(request, response);
    else
      response.writeHead(206, { 'content-range': `bytes 0-${found.length - 1}/${found.length}` }).end(found);
  });
  const watched = (accountSecret: string) => {
    const bucket = new S3Storage({
      bucket: 'files',
      region: 'us-east-1',
      endpoint: storage.origin,
      publicUrl: '',
      forcePathStyle: true,
      linkLifetimeS: 60,
      timeouts: { stallTimeoutMs: 60_000, totalTimeoutMs: 60_000 },
    });
    const lines: Record<string, unknown>[] = [];
    const log = pino(
      { base: null, formatters: { level: (level) => ({ level }) } },
      { write: (line: string) => void lines.push(JSON.parse(line)) },
    );
    const watch = new BucketWatch({ bucket, name: 'files', accountSecret, log, everyMs: 20, againMs: 20 });
    t.after(async () => {
      watch.close();
      await bucket.close();
    });
    return { watch, lines };
  };
  return { state, objects, watched };
}

const secret = 'a'.repeat(64);

test('what an operator has to mend is no reason to refuse the start, but is told, and ends by itself', async (t) => {
  const { state, watched } = await startBucket(t);
  const cases: readonly [fails: Answer, expected: string, isUsable: boolean][] = [
    [refusal(404, 'NoSuchBucket'), 'missing', false],
    [(_, response) => response.writeHead(404).end('not S3 at all'), 'missing', false],
    [refusal(403, 'AccessDenied'), 'refused', false],
    [refusal(403, 'InvalidAccessKeyId'), 'refused', false],
    [refusal(301, 'PermanentRedirect'), 'refused', false],
    [refusal(500, 'InternalError'), 'unavailable', true],
    [refusal(503, 'SlowDown'), 'unavailable', true],
    [(request) => request.socket.destroy(), 'unavailable', true],
  ];
  for (const [fails, expected, isUsable] of cases) {
    state.fails = fails;
    const { watch, lines } = watched(secret);
    await watch.start();
    assert.deepEqual([watch.state, watch.isUsable], [expected, isUsable], JSON.stringify(lines));
    assert.ok(watch.problem !== undefined && watch.problem !== '');
    assert.deepEqual(
      lines.map(({ level }) => level),
      [isUsable ? 'warn' : 'error'],
    );
    state.fails = undefined;
    await eventually(() => watch.state === 'up', 'it is noticed');
    assert.equal(watch.problem, undefined);
    state.fails = fails;
    await eventually(() => watch.state === expected, 'it is noticed again');
    watch.close();
  }
});

test('the first secret that uses a bucket is known by a note in it, which does not tell it', async (t) => {
  const { objects, watched } = await startBucket(t);
  for (const _ of [1, 2]) {
    const { watch } = watched(secret);
    await watch.start();
    assert.equal(watch.state, 'up');
  }
  assert.equal(objects.size, 1);
  for (const note of objects.values()) assert.ok(!note.toString().includes(secret));
  await assert.rejects(watched('b'.repeat(64)).watch.start(), {
    name: 'OtherSecret',
    message: /VERAVOX_STORAGE_SECRET/,
  });
});

test('a note that changes later is told, and one that vanishes is written again', async (t) => {
  const { objects, watched } = await startBucket(t);
  const { watch, lines } = watched(secret);
  await watch.start();
  const [name = ''] = objects.keys();
  objects.set(name, Buffer.from('{"version":1,"fingerprint":"another"}'));
  await eventually(() => watch.state === 'other_secret', 'it is noticed');
  assert.equal(watch.isUsable, false);
  assert.equal(lines.at(-1)?.level, 'error');
  objects.clear();
  await eventually(() => watch.state === 'up' && objects.size === 1, 'it is written');
});

test('/readyz tells strangers a state, and operators what the storage said', async (t) => {
  const server = await startTestServer(t);
  const { analyser, arena } = server;
  const watch = { state: 'missing', isUsable: false, problem: 'NoSuchBucket: none', close() {} };
  const { openStorage } = await import('../../../src/state/storage/open-storage.js');
  const files = {
    ...(await openStorage({ ...testConfig, dataDir: temporaryFolder(t) })),
    watch: watch as never,
  };
  const { port } = await startServerWith(t, analyser, arena, {}, { files });
  const stranger = await request(port, '/readyz');
  assert.deepEqual([stranger.status, stranger.json], [503, { ready: false, state: 'storage_unusable' }]);
  const headers = { 'x-api-key': ADMIN_API_KEY };
  const { json } = await request(port, '/readyz', { headers });
  assert.deepEqual(json.storage, { state: 'missing', problem: 'NoSuchBucket: none' });
  assert.match((await request(port, '/metrics')).text, /^veravox_ready 0$/m);
  watch.state = 'up';
  watch.isUsable = true;
  assert.equal((await request(port, '/readyz')).status, 200);
});

test('a bucket that is missing does not look like a missing file', async (t) => {
  const storage = await startFakeStorage(t, refusal(404, 'NoSuchBucket'));
  const bucket = { storageBucket: 'files', storageEndpoint: storage.origin };
  const server = await startTestServer(t, bucket);
  assert.equal((await getFile(server, '?key_prefix=a&entity=analysis')).status, 503);
  const { openStorage } = await import('../../../src/state/storage/open-storage.js');
  const files = await openStorage({ ...testConfig, ...bucket, dataDir: temporaryFolder(t) });
  t.after(() => files.storage.close());
  await assert.rejects(files.storage.openSource(`${'0'.repeat(32)}/analysis/a`), {
    key: 'STORAGE_UNAVAILABLE',
  });
});
