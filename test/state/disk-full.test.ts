// SPDX-License-Identifier: Apache-2.0
//
// A disk that is really full: the data folder is on a small separate file system.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Config } from '../../src/base/config/options.js';
import type { DatabaseError } from '../../src/state/database/database.js';
import { SqliteDatabase } from '../../src/state/database/sqlite-database.js';
import { noteAdminAct } from '../../src/state/records/admin-act.js';
import { appendToChain, auditDir } from '../../src/state/records/audit-chain.js';
import { ObjectUpload } from '../../src/state/storage/object-upload.js';
import { filesOnDisk, follow, type LinkAnswer, s3Code, stored, uploadLink } from '../support/file-links.js';
import { noise } from '../support/form-body.js';
import { request } from '../support/http-client.js';
import {
  DISK_BYTES,
  fill,
  MEBIBYTE,
  mountSmallDisk,
  onSmallDisk,
  removeMounted,
} from '../support/small-disk.js';
import { createKey } from '../support/stored-keys.js';
import { startTestServer, type TestServer } from '../support/test-server.js';

type Server = TestServer & { dataDir: string };

async function startOnSmallDisk(
  t: TestContext,
  overrides: Partial<Config>,
  inodes?: number,
): Promise<Server> {
  const dataDir = mountSmallDisk(inodes);
  try {
    return { ...(await startTestServer(t, { dataDir, ...overrides })), dataDir };
  } finally {
    // After the server, which an earlier hook stops.
    t.after(() => removeMounted(dataDir));
  }
}

async function put(server: Server, key: string, bytes: number, isChunked = false): Promise<LinkAnswer> {
  const link = await uploadLink(server, key);
  const headers = isChunked ? { 'transfer-encoding': 'chunked' } : {};
  return follow(link, { method: 'PUT', body: noise(bytes), headers });
}

function assertFull(answer: LinkAnswer): void {
  assert.equal(answer.status, 503, answer.text);
  assert.equal(s3Code(answer), 'ServiceUnavailable');
  assert.equal(answer.headers['retry-after'], '60');
}

const freeBytes = ({ dataDir }: Server): number => {
  const { bavail, bsize } = fs.statfsSync(dataDir);
  return bavail * bsize;
};

for (const isChunked of [false, true]) {
  const how = isChunked ? 'of unknown size' : 'with a size';
  test(
    `an upload ${how} that fills the disk is refused and leaves nothing behind`,
    onSmallDisk,
    async (t) => {
      const server = await startOnSmallDisk(t, { diskReserveBytes: 0 });
      const content = noise(MEBIBYTE);
      const link = await stored(server, 'a', content);
      const freeBefore = freeBytes(server);
      for (const key of ['a', 'b']) assertFull(await put(server, key, DISK_BYTES, isChunked));
      assert.equal(filesOnDisk(server.dataDir).length, 1);
      assert.ok(freeBytes(server) >= freeBefore - MEBIBYTE / 16, 'its room is given back');
      assert.ok((await follow(link)).bytes.equals(content), 'the file that it was to replace is as before');
      assert.equal((await put(server, 'c', 2 * MEBIBYTE, isChunked)).status, 200);
    },
  );

  test(`uploads ${how} leave the reserve to keys and audit`, onSmallDisk, async (t) => {
    const reserveBytes = 6 * MEBIBYTE;
    const server = await startOnSmallDisk(t, { diskReserveBytes: reserveBytes, audit: 'file' });
    assert.equal((await put(server, 'a', 3 * MEBIBYTE, isChunked)).status, 200);
    assertFull(await put(server, 'b', 5 * MEBIBYTE, isChunked));
    assert.equal(filesOnDisk(server.dataDir).length, 1);
    assert.ok(freeBytes(server) > reserveBytes);
    // Other programs' use also counts.
    fs.writeFileSync(path.join(server.dataDir, 'other'), noise(freeBytes(server) - MEBIBYTE));
    assertFull(await put(server, 'b', 1000, isChunked));
    await createKey(server.dataDir, { name: 'new', scopes: ['predict'] });
    await noteAdminAct({ dataDir: server.dataDir, audit: 'file' }, { event: 'key_created', keyId: 'new' });
  });
}

test('uploads of empty files leave inodes to keys and audit', onSmallDisk, async (t) => {
  const server = await startOnSmallDisk(t, { diskReserveBytes: MEBIBYTE, audit: 'file' }, 1200);
  const { ffree } = fs.statfsSync(server.dataDir);
  for (let left = ffree; left > 1024 + 32; left--)
    fs.writeFileSync(path.join(server.dataDir, `other-${left}`), '');
  assert.equal((await put(server, 'a', 0)).status, 200);
  for (let i = 0; i < 40; i++) fs.writeFileSync(path.join(server.dataDir, `more-${i}`), '');
  assertFull(await put(server, 'b', 0));
  await createKey(server.dataDir, { name: 'new', scopes: ['predict'] });
});

test('with no byte left the server goes on answering', onSmallDisk, async (t) => {
  const server = await startOnSmallDisk(t, { diskReserveBytes: 0 });
  const link = await stored(server, 'a', noise(1000));
  const other = fill(server.dataDir);
  assertFull(await put(server, 'b', 10_000));
  assert.equal((await follow(link)).status, 200);
  assert.equal((await request(server.port, '/readyz')).status, 200);
  fs.rmSync(other);
  assert.equal((await put(server, 'b', 10_000)).status, 200);
});

test('an object whose MD5 does not fit as a whole is refused', onSmallDisk, async (t) => {
  const folder = mountSmallDisk();
  t.after(() => removeMounted(folder));
  const temporary = path.join(folder, 'temporary');
  let isInPlace = false;
  const upload = new ObjectUpload(temporary, [], {
    check: async () => {},
    putInPlace: async () => {
      isInPlace = true;
    },
    whenOver: () => {},
  });
  // The last page of the file has room for six more bytes.
  await upload.write(noise(4096 - 6));
  fill(folder);
  await assert.rejects(upload.finish(), { key: 'STORAGE_FULL' });
  await upload.discard();
  assert.deepEqual([isInPlace, fs.existsSync(temporary)], [false, false]);
});

test('an audit line that fits, but whose note does not, is written once', onSmallDisk, async (t) => {
  const folder = mountSmallDisk();
  t.after(() => removeMounted(folder));
  const line = async (event: string) =>
    appendToChain(auditDir(folder), [JSON.stringify({ event })], { day: '2026-01-01', time: new Date() });
  await line('first');
  const other = fill(folder);
  // The block of the first line has room for more lines; head.json needs a new one.
  await assert.rejects(line('second'), { code: 'ENOSPC' });
  fs.rmSync(other);
  await line('second');
  const text = fs.readFileSync(path.join(auditDir(folder), '2026-01-01.jsonl'), 'utf8');
  const events = text
    .trimEnd()
    .split('\n')
    .map((json) => JSON.parse(json).event);
  assert.deepEqual(events, ['chain_started', 'first', 'second']);
});

test(
  'a database without a byte left says so, keeps what it has, and goes on with new room',
  onSmallDisk,
  async (t) => {
    const folder = mountSmallDisk();
    t.after(() => removeMounted(folder));
    const database = new SqliteDatabase(path.join(folder, 'test.db'));
    await database.execute('CREATE TABLE things (id INTEGER PRIMARY KEY, bytes BLOB) STRICT');
    const insert = 'INSERT INTO things (bytes) VALUES ($1)';
    await database.execute(insert, [noise(1000)]);
    const other = fill(folder);
    const count = async (): Promise<unknown> =>
      (await database.query('SELECT COUNT(*) AS n FROM things'))[0]?.n;
    const isFull = (error: DatabaseError): boolean =>
      error.kind === 'full' && /Make room/.test(error.message);
    await assert.rejects(database.execute(insert, [noise(MEBIBYTE)]), isFull);
    assert.equal(await count(), 1);
    fs.rmSync(other);
    await database.execute(insert, [noise(MEBIBYTE)]);
    assert.equal(await count(), 2);
    await database.close();
  },
);
