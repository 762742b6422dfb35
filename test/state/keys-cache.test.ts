// SPDX-License-Identifier: Apache-2.0
//
// The keys that a running server accepts, with either database.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { type TestContext, test } from 'node:test';
import { DatabaseError, isTransient } from '../../src/state/database/database.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { newKey } from '../../src/state/keys/api-key.js';
import { KeyCache, type KeyCacheOptions } from '../../src/state/keys/key-cache.js';
import { KeyTable } from '../../src/state/keys/key-table.js';
import { type Connect, onEachDatabase, postgresAt } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { sharedPostgres } from '../support/postgres.js';
import { storeKeys } from '../support/stored-keys.js';
import { undisturbedTime } from '../support/undisturbed.js';

const predictOnly = { name: 'test', scopes: ['predict'] } as const;
const never = { pollMs: 3_600_000 };

async function fixture(t: TestContext, connect: Connect, options?: KeyCacheOptions) {
  const database = connect();
  await migrate(database, migrations);
  const keys = new KeyTable(database);
  const open = async (): Promise<KeyCache> => {
    const keyCache = await KeyCache.open(new KeyTable(connect()), options);
    t.after(() => keyCache.close());
    return keyCache;
  };
  return { keys, open };
}

onEachDatabase('what is not an active key is refused', async (connect, t) => {
  const { keys, open } = await fixture(t, connect);
  const { text } = await keys.create(predictOnly);
  const other = (await keys.create(predictOnly)).text;
  const expired = (await keys.create({ ...predictOnly, expiresAt: new Date(Date.now() - 1) })).text;
  const revoked = await keys.create(predictOnly);
  await keys.revoke(revoked.key.id);
  const [prefix, id, secret] = [text.slice(0, 3), text.slice(3, 15), text.slice(16)];
  const keyCache = await open();
  const wrong = {
    empty: '',
    'only an id': `${prefix}${id}`,
    'an empty secret': `${prefix}${id}_`,
    'the hash instead of the secret': `${prefix}${id}_${(await keys.list())[0]?.secretSha256}`,
    "another key's secret": `${prefix}${id}_${other.slice(16)}`,
    'an unknown id': `${prefix}000000000000_${secret}`,
    'upper case': text.toUpperCase(),
    'a space behind': `${text} `,
    'a line break behind': `${text}\n`,
    'a prototype member': '__proto__',
    'much too long': text.repeat(1000),
    expired,
    revoked: revoked.text,
  };
  for (const [what, presented] of Object.entries(wrong)) {
    assert.equal(keyCache.authenticate(presented), undefined, what);
    assert.equal(await keyCache.lookUp(presented), undefined, what);
  }
});

onEachDatabase('an active key is recognised with its id and scopes', async (connect, t) => {
  const { keys, open } = await fixture(t, connect);
  const { key, text } = await keys.create({ name: 'test', scopes: ['predict', 'file'] });
  const later = await keys.create({ ...predictOnly, expiresAt: new Date(Date.now() + 60_000) });
  const keyCache = await open();
  const scopes = new Set(['predict', 'file']);
  assert.deepEqual(keyCache.authenticate(text), { id: key.id, account: 'default', scopes });
  assert.equal(keyCache.authenticate(later.text)?.id, later.key.id);
});

onEachDatabase(
  'a running store hears of keys created and revoked, also many in quick succession',
  async (connect, t) => {
    // It never looks by itself.
    const { keys, open } = await fixture(t, connect, never);
    const keyCache = await open();
    assert.equal(keyCache.size, 0);
    const created = await Promise.all(Array.from({ length: 20 }, () => keys.create(predictOnly)));
    const active = (): number =>
      created.filter(({ text }) => keyCache.authenticate(text) !== undefined).length;
    await eventually(() => active() === 20, 'all are known');
    await Promise.all(created.slice(5).map(({ key }) => keys.revoke(key.id)));
    await eventually(() => active() === 5, 'the revoked ones are refused');
  },
);

onEachDatabase('a store catches up with more changes than one answer holds', async (connect, t) => {
  const { open } = await fixture(t, connect, { pollMs: 20 });
  const keyCache = await open();
  const created = Array.from({ length: 1203 }, () => newKey(predictOnly));
  await storeKeys(
    connect(),
    created.map(({ key }) => key),
  );
  await eventually(() => keyCache.size === created.length, 'it has them all');
  assert.ok(created.every(({ text, key }) => keyCache.authenticate(text)?.id === key.id));
});

onEachDatabase(
  'keys of sessions that have expired are not kept in memory, and others are',
  async (connect, t) => {
    const { keys, open } = await fixture(t, connect, { pollMs: 20 });
    const ofSession = { ...predictOnly, endsWithSession: true } as const;
    const longAgo = new Date(Date.now() - 3_600_000);
    const { text, key } = await keys.create(ofSession);
    await keys.create({ ...predictOnly, expiresAt: longAgo });
    for (let i = 0; i < 3; i++) await keys.create({ ...ofSession, expiresAt: longAgo });
    const keyCache = await open();
    assert.equal(keyCache.size, 2, 'at the start');
    const second = await keys.create({ ...ofSession, expiresAt: longAgo });
    const third = await keys.create(ofSession);
    await eventually(() => keyCache.authenticate(third.text) !== undefined, 'the store has followed');
    assert.equal(keyCache.size, 3, 'later');
    assert.equal(await keyCache.lookUp(second.text), undefined);
    assert.equal(keyCache.authenticate(text)?.id, key.id);
    await keys.revoke(key.id);
    await eventually(() => keyCache.authenticate(text) === undefined, 'it is revoked');
    // An answer in transit may still contain the old state.
    assert.equal(keyCache.size, 3, 'one that is revoked and has not expired is still known');
  },
);

onEachDatabase('a store that hears of nothing looks by itself', async (connect, t) => {
  const { keys, open: _ } = await fixture(t, connect);
  const deaf = Object.assign(Object.create(keys) as KeyTable, {
    all: () => keys.all(),
    changedSince: (revision: number, timeoutMs: number) => keys.changedSince(revision, timeoutMs),
    find: (id: string) => keys.find(id),
    follow: () => () => {},
  });
  const { key, text } = await keys.create(predictOnly);
  const keyCache = await KeyCache.open(deaf);
  t.after(() => keyCache.close());
  assert.equal(keyCache.authenticate(text)?.id, key.id);
  await keys.revoke(key.id);
  const took = undisturbedTime();
  await eventually(() => keyCache.authenticate(text) === undefined, 'it is refused');
  assert.ok(took() < 1000, `${took()} ms`);
});

onEachDatabase('a new key works at once, without waiting for the next look', async (connect, t) => {
  const { keys, open } = await fixture(t, connect, never);
  const keyCache = await open();
  const created = await keys.create(predictOnly);
  const wrongSecret = `${created.text.slice(0, -4)}AAAA`;
  assert.equal(await keyCache.lookUp(wrongSecret), undefined);
  const found = keyCache.authenticate(created.text) ?? (await keyCache.lookUp(created.text));
  assert.equal(found?.id, created.key.id);
  assert.equal(keyCache.lookUp(created.text), undefined, 'what is known needs no look');
});

test('a database that does not tell about a new key is no proof against the key', async (t) => {
  const nothing = { revision: 0, keys: [], isFull: false };
  let find: KeyTable['find'] = () => Promise.reject(new DatabaseError('busy', 'SQLITE_BUSY', 'held'));
  const keyCache = await KeyCache.open(
    {
      all: async () => nothing,
      changedSince: async () => nothing,
      find: (id) => find(id),
      follow: () => () => {},
    },
    { ...never, lookupTimeoutMs: 20 },
  );
  t.after(() => keyCache.close());
  const { text } = newKey(predictOnly);
  const isTold = (code: string) => (error: unknown) => error instanceof DatabaseError && error.code === code;
  await assert.rejects(async () => keyCache.lookUp(text), isTold('SQLITE_BUSY'));
  find = () => new Promise(() => {});
  await assert.rejects(async () => keyCache.lookUp(text), isTold('TIMEOUT'));
});

test('strangers who try ids make it ask the database a few times per second only', async (t) => {
  let asked = 0;
  const nothing = { revision: 0, keys: [], isFull: false };
  const keyCache = await KeyCache.open(
    {
      all: async () => nothing,
      changedSince: async () => nothing,
      find: async () => void asked++,
      follow: () => () => {},
    },
    never,
  );
  t.after(() => keyCache.close());
  const secret = 'A'.repeat(43);
  const startMs = performance.now();
  for (let i = 0; i < 100_000; i++) void keyCache.lookUp(`vx_${i.toString(16).padStart(12, '0')}_${secret}`);
  const seconds = Math.ceil((performance.now() - startMs) / 1000) + 1;
  assert.ok(asked >= 50 && asked <= 50 * seconds, `${asked} in ${seconds} s`);
});

const postgres = sharedPostgres();

test('without its database, a store goes on with the keys that it knows, says so once, and catches up afterwards', async (t) => {
  const server = await postgres();
  const database = postgresAt(await server.createDatabase());
  t.after(() => database.close());
  await migrate(database, migrations);
  const keys = new KeyTable(database);
  const [kept, revoked] = [await keys.create(predictOnly), await keys.create(predictOnly)];
  const errors: unknown[] = [];
  const keyCache = await KeyCache.open(keys, { pollMs: 20, onReloadError: (error) => errors.push(error) });
  t.after(() => keyCache.close());
  await server.stop();
  await eventually(() => !keyCache.isCurrent, 'it notices');
  assert.equal(keyCache.authenticate(kept.text)?.id, kept.key.id);
  await assert.rejects(async () => keyCache.lookUp(`vx_${'0'.repeat(12)}_${'A'.repeat(43)}`), isTransient);
  await server.start();
  await keys.revoke(revoked.key.id);
  await eventually(
    () => keyCache.isCurrent && keyCache.authenticate(revoked.text) === undefined,
    'it catches up',
  );
  assert.equal(keyCache.authenticate(kept.text)?.id, kept.key.id);
  assert.ok(errors.length > 0 && errors.length < 10, `${errors.length}`);
});

test('a connection to the database that is dead without a word does not keep a revoked key alive', async (t) => {
  const server = await postgres();
  const url = await server.createDatabase();
  const direct = postgresAt(url);
  t.after(() => direct.close());
  await migrate(direct, migrations);
  const keys = new KeyTable(direct);
  const { key, text } = await keys.create(predictOnly);
  // Open connections stop forwarding when it freezes, but are not closed.
  const sockets: net.Socket[] = [];
  const way = net.createServer((client) => {
    const target = net.connect(`${server.file('.s.PGSQL.5432')}`);
    client.pipe(target).pipe(client);
    for (const socket of [client, target]) sockets.push(socket.on('error', () => {}));
  });
  way.listen(0, '127.0.0.1');
  await once(way, 'listening');
  const { port } = way.address() as net.AddressInfo;
  const address = new URL(url);
  const far = postgresAt(server.tcpUrl(address.pathname.slice(1)).replace(/:\d+\//, `:${port}/`), 3);
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    way.close();
    await far.close();
  });
  const keyCache = await KeyCache.open(new KeyTable(far));
  t.after(() => keyCache.close());
  // With every connection that it may have.
  await Promise.all([1, 2, 3].map(() => far.query('SELECT pg_sleep(0.1)::TEXT')));
  await eventually(() => sockets.length >= 8, 'it listens on another');
  for (const socket of sockets) socket.pause().unpipe();
  await keys.revoke(key.id);
  await eventually(() => keyCache.authenticate(text) === undefined, 'it is refused');
});
