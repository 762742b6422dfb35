// SPDX-License-Identifier: Apache-2.0
//
// API keys in either database.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Database } from '../../src/state/database/database.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { newKey, type StoredKey } from '../../src/state/keys/api-key.js';
import { KeyTable, removeSessionKeys } from '../../src/state/keys/key-table.js';
import { type Connect, onEachDatabase } from '../support/databases.js';
import { storeKeys } from '../support/stored-keys.js';

const predictOnly = { name: 'test', scopes: ['predict'] } as const;

async function open(connect: Connect): Promise<{ keys: KeyTable; database: Database }> {
  const database = connect();
  await migrate(database, migrations);
  return { keys: new KeyTable(database), database };
}

onEachDatabase('revoking what is no key changes nothing', async (connect) => {
  const { keys } = await open(connect);
  const { key } = await keys.create(predictOnly);
  for (const id of ['000000000000', '../outside', '', '.', "' OR 1=1 --"]) {
    assert.equal(await keys.revoke(id), false, id);
  }
  assert.deepEqual(await keys.list(), [key]);
});

onEachDatabase('if what has to come before a key fails, there is no key', async (connect) => {
  const { keys } = await open(connect);
  const creating = keys.create(predictOnly, async () => {
    throw new Error('no audit');
  });
  await assert.rejects(creating, /no audit/);
  assert.deepEqual(await keys.list(), []);
});

onEachDatabase('ended keys of sessions go when they are old, or too many of one account', async (connect) => {
  const { keys, database } = await open(connect);
  const longAgo = new Date(Date.now() - 7_200_000);
  const lately = new Date(Date.now() - 60_000);
  let made = 0;
  const key = (account: string, expiresAt: Date): StoredKey =>
    newKey({ name: 'page', account, scopes: [], expiresAt, endsWithSession: true }, new Date(++made)).key;
  const old = key('b', longAgo);
  const surplus = [key('a', lately), key('a', lately)];
  const kept = [key('a', lately), key('b', lately), key('a', lately), key('b', lately), key('b', lately)];
  const active = key('a', new Date(Date.now() + 60_000));
  const { key: own } = await keys.create({ ...predictOnly, account: 'a', expiresAt: longAgo });
  await storeKeys(connect(), [old, ...surplus, ...kept, active]);
  const limits = { maxAgeMs: 3_600_000, max: 2 };
  const removed = await database.transaction((transaction) =>
    removeSessionKeys(transaction, 'a', limits, 100),
  );
  const ids = (some: readonly StoredKey[]) => some.map(({ id }) => id).toSorted();
  assert.deepEqual(removed.toSorted(), ids([old, ...surplus]));
  assert.deepEqual(ids(await keys.list()), ids([...kept, active, own]));
});

onEachDatabase('a key is stored by the hash of its secret', async (connect) => {
  const { keys, database } = await open(connect);
  const { key, text } = await keys.create(predictOnly);
  const secret = text.split('_').slice(2).join('_');
  assert.equal(Buffer.from(secret, 'base64url').length, 32);
  assert.equal(key.secretSha256, createHash('sha256').update(secret).digest('hex'));
  const rows = JSON.stringify(await database.query('SELECT * FROM api_keys'));
  assert.ok(rows.includes(key.secretSha256) && !rows.includes(secret));
});

onEachDatabase('what was created is listed, oldest first, with all it was given', async (connect) => {
  const { keys } = await open(connect);
  const expiresAt = new Date('2031-01-01T00:00:00.001Z');
  const limits = { rate: { requests: 0, windowS: 60 }, concurrency: 0, account: 'acme' };
  const wanted = { name: "b'ü\n", scopes: ['voiceid', 'file'], expiresAt, ...limits } as const;
  const second = newKey(wanted, new Date(2000)).key;
  const first = newKey({ name: 'a', scopes: [] }, new Date(1000)).key;
  await storeKeys(connect(), [second, first]);
  const third = (await keys.create({ name: '', scopes: ['admin'] })).key;
  assert.deepEqual(await keys.list(), [first, second, third]);
  assert.deepEqual(await keys.find(second.id), second);
  assert.equal(await keys.find('000000000000'), undefined);
});

onEachDatabase('a revoked key stays listed with the time of its first revocation', async (connect) => {
  const { keys } = await open(connect);
  const { key } = await keys.create(predictOnly);
  assert.equal(await keys.revoke(key.id, new Date(5000)), true);
  assert.equal(await keys.revoke(key.id, new Date(9000)), true);
  assert.deepEqual(await keys.list(), [{ ...key, revokedAt: new Date(5000) }]);
});

onEachDatabase('of several hosts that start at once, one makes the first key', async (connect) => {
  const { keys, database } = await open(connect);
  const others = [connect(), connect(), connect()].map((other) => new KeyTable(other));
  const results = await Promise.all(
    [keys, ...others].map((host) => host.storeFirst(newKey(predictOnly).key)),
  );
  assert.equal(results.filter(Boolean).length, 1);
  assert.equal((await database.query('SELECT id FROM api_keys')).length, 1);
  assert.equal(await keys.isEmpty(), false);
});

onEachDatabase(
  'a server that asks for changes gets each of them once, also those of others at the same time',
  async (connect) => {
    const { keys } = await open(connect);
    const others = [connect(), connect(), connect()].map((database) => new KeyTable(database));
    const seen = new Map<string, StoredKey>();
    let revision = 0;
    let isDone = false;
    const watch = async (): Promise<void> => {
      while (!isDone) {
        const changes = await keys.changedSince(revision, 60_000);
        assert.ok(changes.keys.length === 0 || changes.revision > revision);
        ({ revision } = changes);
        for (const key of changes.keys) seen.set(key.id, key);
      }
    };
    const watching = watch();
    await Promise.all(
      others.map(async (other) => {
        for (let i = 0; i < 10; i++) {
          const { key } = await other.create({ name: String(i), scopes: ['predict'] });
          if (i % 2 === 0) await other.revoke(key.id);
        }
      }),
    );
    isDone = true;
    await watching;
    for (const key of (await keys.changedSince(revision, 60_000)).keys) seen.set(key.id, key);
    const byId = (list: Iterable<StoredKey>): StoredKey[] =>
      [...list].sort((a, b) => a.id.localeCompare(b.id));
    assert.deepEqual(byId(seen.values()), byId(await keys.list()));
    assert.equal(seen.size, 30);
    assert.equal([...seen.values()].filter(({ revokedAt }) => revokedAt !== undefined).length, 15);
  },
);
