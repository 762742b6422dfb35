// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Config } from '../../../src/base/config/options.js';
import { ownDataFolder } from '../../../src/state/data-folder/data-folder.js';
import { Retention } from '../../../src/state/records/retention.js';
import { AccountSpace } from '../../../src/state/storage/account-space.js';
import { sweepObjects } from '../../../src/state/storage/object-sweep.js';
import { openStorage } from '../../../src/state/storage/open-storage.js';
import {
  downloadLinks,
  filesOnDisk,
  follow,
  type LinkAnswer,
  s3Code,
  stored,
  uploadLink,
} from '../../support/file-links.js';
import { noise } from '../../support/form-body.js';
import { request } from '../../support/http-client.js';
import { storages } from '../../support/storages.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import {
  API_KEY,
  OTHER_API_KEY,
  startTestServer,
  type TestServer,
  testConfig,
} from '../../support/test-server.js';

type Server = TestServer & { dataDir: string };

async function start(t: TestContext, overrides: Partial<Config> = {}): Promise<Server> {
  const dataDir = temporaryFolder(t);
  return { ...(await startTestServer(t, { dataDir, ...overrides })), dataDir };
}

async function put(
  server: Server,
  key: string,
  bytes: number,
  options: { chunked?: true; apiKey?: string } = {},
) {
  const { chunked, apiKey } = options;
  const link = await uploadLink(server, key, apiKey === undefined ? {} : { apiKey });
  const headers = chunked && { 'transfer-encoding': 'chunked' };
  return follow(link, { method: 'PUT', body: noise(bytes), ...(headers && { headers }) });
}

const remove = (port: number, query: string, apiKey = API_KEY) =>
  request(port, `/v1/file?${query}`, { method: 'DELETE', headers: { 'x-api-key': apiKey } });

function assertOverQuota(answer: LinkAnswer, message: RegExp): void {
  assert.equal(answer.status, 413);
  assert.equal(s3Code(answer), 'QuotaExceeded');
  assert.match(answer.text, message);
}

test('DELETE /file refuses what it cannot delete, with 400 and the reason, and strangers with 401', async (t) => {
  const { port } = await start(t);
  for (const [query, message] of [
    ['entity=analysis', /Expected 1 to 100 object keys for key but received none/],
    ['key=a', /for entity but received none/],
    ['key=&entity=analysis', /Expected a key .* for key\[0\] but received an empty value/],
    ['key=a&key=../b&entity=analysis', /for key\[1\] but received "\.\.\/b"/],
    ['key=a&entity=..', /for entity but received "\.\."/],
    ['key=a&entity=analysis&entity=analysis', /The field entity was given more than once/],
    [`${'key=a&'.repeat(101)}entity=analysis`, /Expected 1 to 100 object keys for key/],
  ] as const) {
    const { status, json } = await remove(port, query);
    assert.equal(status, 400, query);
    assert.match(json.message, message);
  }
  assert.equal((await remove(port, 'key=a&entity=analysis', 'wrong')).status, 401);
  const legacy = await request(port, '/v0/file?key=a&entity=analysis', {
    method: 'DELETE',
    headers: { 'x-api-key': API_KEY },
  });
  assert.equal(legacy.status, 405);
});

for (const [name, startStorage] of storages) {
  test(`${name}: what is deleted is gone, with its link; others' files are not reached`, async (t) => {
    const { server } = await startStorage(t);
    const { port } = server;
    const link = await stored(server, 'a/b c.wav', noise(1000));
    await stored(server, 'a/b', noise(1000));
    const query = new URLSearchParams({ key: 'a/b c.wav', entity: 'analysis' });
    const others = await remove(port, String(query), OTHER_API_KEY);
    assert.deepEqual([others.status, others.json], [200, { deleted: ['analysis/a/b c.wav'] }]);
    assert.equal((await follow(link)).status, 200);
    query.append('key', 'never-there');
    for (let times = 0; times < 2; times++) {
      const answer = await remove(port, String(query));
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.json, { deleted: ['analysis/a/b c.wav', 'analysis/never-there'] });
    }
    assert.equal((await follow(link)).status, 404);
    assert.deepEqual(
      (await downloadLinks(server, '')).map(({ key }) => key),
      ['analysis/a/b'],
    );
  });
}

test("an account's bytes and files are limited, at the start of an upload and at its end", async (t) => {
  const server = await start(t, { accountMaxBytes: 100_000, accountMaxObjects: 3 });
  assert.equal((await put(server, 'a', 60_000)).status, 200);
  const message = /This upload would exceed the account.s limit of 100000 bytes/;
  assertOverQuota(await put(server, 'b', 40_001), message);
  assertOverQuota(await put(server, 'b', 40_001, { chunked: true }), message);
  assert.equal(filesOnDisk(server.dataDir).length, 1);
  // A replacement needs only the difference.
  assert.equal((await put(server, 'a', 100_000, { chunked: true })).status, 200);
  assert.equal((await put(server, 'a', 10)).status, 200);
  assert.equal((await put(server, 'b', 10)).status, 200);
  assert.equal((await put(server, 'c', 10)).status, 200);
  assertOverQuota(await put(server, 'd', 10), /exceed the account.s limit of 3 files/);
  assert.equal((await put(server, 'd', 10, { apiKey: OTHER_API_KEY })).status, 200, 'others have their own');
  assert.equal((await remove(server.port, 'key=b&entity=analysis')).status, 200);
  assert.equal((await put(server, 'd', 99_980)).status, 200);
});

test('uploads at the same time do not get past the limit together, nor in two processes', async (t) => {
  const server = await start(t, { accountMaxBytes: 250_000 });
  const second = await startTestServer(t, { dataDir: server.dataDir, accountMaxBytes: 250_000 });
  const puts = Array.from({ length: 12 }, (_, i) =>
    put(i % 2 === 0 ? server : { ...second, dataDir: server.dataDir }, `k${i}`, 50_000, { chunked: true }),
  );
  const statuses = (await Promise.all(puts)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array(5).fill(200), ...Array(7).fill(413)]);
  assert.equal(filesOnDisk(server.dataDir).length, 5);
});

test('what was there before the limit, and what somebody removed by hand, is counted after a start', async (t) => {
  const dataDir = temporaryFolder(t);
  const first = { ...(await startTestServer(t, { dataDir })), dataDir };
  assert.equal((await put(first, 'a', 60_000)).status, 200);
  await first.server.stop();
  const second = { ...(await startTestServer(t, { dataDir, accountMaxBytes: 100_000 })), dataDir };
  assertOverQuota(await put(second, 'b', 50_000), /limit of 100000 bytes/);
  const [file = ''] = filesOnDisk(dataDir);
  fs.rmSync(path.join(dataDir, 'objects', file));
  (await ownDataFolder(dataDir)).release();
  assert.equal((await put(second, 'b', 50_000)).status, 200);
});

test('uploads leave the reserve of the disk alone; keys and audit may use it', async (t) => {
  const dataDir = temporaryFolder(t);
  let freeBytes = 1_000_000;
  const config = { ...testConfig, dataDir, diskReserveBytes: 900_000 };
  const { embedded } = await openStorage(config, { freeBytes: async () => freeBytes });
  assert.ok(embedded);
  const name = `${'0'.repeat(32)}/analysis/a`;
  const full = { key: 'STORAGE_FULL' };
  await assert.rejects(embedded.objects.begin(name, [], 100_001), full);
  const first = await embedded.objects.begin(name, [], 60_000);
  await assert.rejects(embedded.objects.begin(name, [], 60_000), full, 'what the first announced is taken');
  const second = await embedded.objects.begin(name, [], 40_000);
  await first.discard();
  await second.discard();
  // Accounts that announce all of it leave half to each other one.
  const all = await embedded.objects.begin(name, [], 100_000);
  const others = `${'1'.repeat(32)}/analysis/a`;
  await assert.rejects(embedded.objects.begin(others, [], 50_001), full);
  const third = await embedded.objects.begin(others, [], 50_000);
  await third.write(noise(1 << 20));
  await all.discard();
  await third.discard();
  // An upload of unstated size is stopped when the disk fills up.
  const silent = await embedded.objects.begin(name, []);
  await silent.write(noise(1000));
  freeBytes = 800_000;
  await assert.rejects(silent.write(noise(17 << 20)), full);
  await silent.discard();
  assert.deepEqual(filesOnDisk(dataDir), []);
  freeBytes = 1_000_000;
  const last = await embedded.objects.begin(name, [], 100_000);
  await last.write(noise(10));
  await last.finish();
  await embedded.close();
});

test('the server itself asks the disk', async (t) => {
  const server = await start(t, { diskReserveBytes: 999_999_999_999_999 });
  const refused = await put(server, 'a', 10);
  assert.equal(refused.status, 503);
  assert.equal(s3Code(refused), 'ServiceUnavailable');
  assert.equal(refused.headers['retry-after'], '60');
});

test('files are removed when their days have been lived through, by when they were stored; jumps remove none', async (t) => {
  const MINUTE_MS = 60_000;
  const server = await start(t, { objectTtlDays: 2 });
  const clocks = { wall: Date.now(), monotonic: 0 };
  const space = new AccountSpace(server.dataDir, { maxBytes: 0, maxObjects: 0 });
  const events: unknown[] = [];
  const nothing = { days: async () => [], removeDays: async () => {} };
  const retention = new Retention(server.dataDir, {
    auditDays: 0,
    usageDays: 0,
    usage: nothing,
    jobDays: 0,
    jobs: nothing,
    sweepObjects: (daysSince) => sweepObjects(server.dataDir, space, 2, daysSince),
    clocks: { wallMs: () => clocks.wall, monotonicMs: () => clocks.monotonic },
    onRemoved: (event) => events.push(event),
    onError: (error) => assert.fail(String(error)),
  });
  t.after(() => retention.close());
  const pass = async (hours: number): Promise<void> => {
    for (let minute = 0; minute < hours * 60; minute++) {
      clocks.wall += MINUTE_MS;
      clocks.monotonic += MINUTE_MS;
      await retention.look();
    }
  };
  assert.equal((await put(server, 'old', 1000)).status, 200);
  const [old = ''] = filesOnDisk(server.dataDir);
  await pass(25);
  clocks.wall += 500 * 86_400_000;
  await pass(0.5);
  clocks.wall -= 502 * 86_400_000;
  await pass(0.5);
  clocks.wall += 2 * 86_400_000;
  await pass(1.5);
  assert.deepEqual(filesOnDisk(server.dataDir), [old]);
  assert.equal((await put(server, 'new', 1000)).status, 200);
  const file = path.join(
    server.dataDir,
    'objects',
    filesOnDisk(server.dataDir).find((name) => name !== old) ?? '',
  );
  fs.utimesSync(file, new Date(clocks.wall), new Date(clocks.wall));
  await pass(48);
  assert.deepEqual(
    (await downloadLinks(server, '')).map(({ key }) => key),
    ['analysis/new'],
  );
  assert.deepEqual(events, [{ event: 'objects_expired', objects: 1, bytes: 1000 }]);
});
