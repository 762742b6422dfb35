// SPDX-License-Identifier: Apache-2.0
//
// Sessions over several hosts, in either database.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOf } from '../../src/console/users/secret-token.js';
import { IDLE_MS, LIFETIME_MS, type Session } from '../../src/console/users/session.js';
import { SessionCache, type SignedIn } from '../../src/console/users/session-cache.js';
import { SessionKeys } from '../../src/console/users/session-keys.js';
import { SessionTable } from '../../src/console/users/session-table.js';
import { UserTable } from '../../src/console/users/user-table.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { type NewKey, newKey } from '../../src/state/keys/api-key.js';
import { KeyCache } from '../../src/state/keys/key-cache.js';
import { KeyTable } from '../../src/state/keys/key-table.js';
import { addUser, signIn } from '../support/admin.js';
import { type Connect, onEachDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { request } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { storeKeys } from '../support/stored-keys.js';
import { undisturbedTime } from '../support/undisturbed.js';

/** One host: its own connection, memory, and adjustable clock. */
function host(connect: Connect) {
  const database = connect();
  const sessionTable = new SessionTable(database);
  const clock = { aheadMs: 0 };
  const asked = { changes: 0, touches: 0 };
  const sessionCache = new SessionCache(
    {
      changedSince(revision) {
        asked.changes++;
        return sessionTable.changedSince(revision);
      },
      find: (id) => sessionTable.find(id),
      async touch(id, nowMs) {
        asked.touches++;
        await sessionTable.touch(id, nowMs);
      },
      follow: (onChange) => sessionTable.follow(onChange),
    },
    { nowMs: () => Date.now() + clock.aheadMs },
  );
  return { database, sessionTable, sessionCache, clock, asked, users: new UserTable(database) };
}

async function hosts(connect: Connect) {
  const one = host(connect);
  await migrate(one.database, migrations);
  const user = await addUser(one.database, 'viewer');
  const begun = await one.sessionTable.create(user, undefined);
  assert.ok(begun);
  return { one, two: host(connect), ...begun };
}

const nameOf = async (found: SignedIn | undefined | Promise<SignedIn | undefined>) =>
  (await found)?.user.name;

onEachDatabase(
  'a session of one host is one of the others at once, and ends everywhere within a second',
  async (connect) => {
    const { one, two, user, token } = await hosts(connect);
    assert.equal(await nameOf(one.sessionCache.find(token)), 'viewer');
    assert.equal(await nameOf(two.sessionCache.find(token)), 'viewer');
    // Even on a host that has just asked.
    const another = await one.sessionTable.create(user, undefined);
    assert.equal(await nameOf(two.sessionCache.find(String(another?.token))), 'viewer');
    await one.sessionTable.endAllOf(user.id);
    const took = undisturbedTime();
    await eventually(async () => (await two.sessionCache.find(token)) === undefined, 'it ends');
    assert.ok(took() < 1000, `${took()} ms`);
    assert.equal(two.sessionCache.isLive(another?.session.id ?? ''), false);
  },
);

onEachDatabase(
  'requests of a session ask the database at most every 0.4 s, and nothing without requests',
  async (connect) => {
    const { two, token } = await hosts(connect);
    assert.equal(two.asked.changes, 0);
    assert.equal(await nameOf(two.sessionCache.find(token)), 'viewer');
    const { changes } = two.asked;
    const startedMs = performance.now();
    for (let i = 0; i < 5000; i++) await two.sessionCache.find(token);
    const tookMs = performance.now() - startedMs;
    assert.ok(two.asked.changes - changes <= 1 + tookMs / 400, `${two.asked.changes} in ${tookMs} ms`);
    assert.equal(two.asked.touches, 0);
  },
);

onEachDatabase(
  'a session ends after twelve idle hours, and after seven days in any case',
  async (connect) => {
    const { one, two, token } = await hosts(connect);
    await one.sessionCache.find(token);
    await two.sessionCache.find(token);
    one.clock.aheadMs = IDLE_MS - 60_000;
    assert.equal(await nameOf(one.sessionCache.find(token)), 'viewer');
    await eventually(() => one.asked.touches === 1, 'its use is noted');
    // The other host learns of its use.
    two.clock.aheadMs = IDLE_MS + 60_000;
    await eventually(async () => (await nameOf(two.sessionCache.find(token))) === 'viewer', 'it goes on');
    two.clock.aheadMs = 3 * IDLE_MS;
    assert.equal(await two.sessionCache.find(token), undefined);
    for (let aheadMs = IDLE_MS; aheadMs < LIFETIME_MS - 60_000; aheadMs += IDLE_MS / 2) {
      one.clock.aheadMs = aheadMs;
      assert.equal(await nameOf(one.sessionCache.find(token)), 'viewer', `${aheadMs}`);
    }
    one.clock.aheadMs = LIFETIME_MS;
    assert.equal(await one.sessionCache.find(token), undefined);
  },
);

onEachDatabase(
  'whoever is disabled, or gets another role, account or password, is signed out',
  async (connect) => {
    const { one, user } = await hosts(connect);
    for (const changes of [
      { role: 'developer' },
      { account: 'other' },
      { password: 'scrypt$4$x' },
      { isDisabled: true },
    ] as const) {
      const current = await one.users.find(user.id);
      const begun = current && (await one.sessionTable.create(current, undefined));
      assert.equal(await nameOf(one.sessionCache.find(String(begun?.token))), 'viewer');
      await one.users.change(user.id, changes);
      await eventually(
        async () => (await one.sessionCache.find(String(begun?.token))) === undefined,
        'it ends',
      );
    }
    const disabled = await one.users.find(user.id);
    assert.equal(disabled && (await one.sessionTable.create(disabled, undefined)), undefined);
    assert.equal(
      await one.sessionTable.create(user, undefined),
      undefined,
      'proved with an earlier password',
    );
  },
);

onEachDatabase('of more than twenty sessions of a user the oldest end', async (connect) => {
  const { one, user, token } = await hosts(connect);
  for (let i = 0; i < 20; i++) await one.sessionTable.create(user, undefined);
  assert.equal(await one.sessionCache.find(token), undefined);
  assert.equal(await one.sessionTable.endAllOf(user.id), 20);
});

onEachDatabase('there is always an administrator', async (connect) => {
  const { one } = await hosts(connect);
  const first = await addUser(one.database, 'admin');
  const second = await addUser(one.database, 'admin', 'second');
  await one.users.change(first.id, { role: 'viewer' });
  for (const changes of [{ role: 'developer' }, { isDisabled: true }] as const) {
    await assert.rejects(one.users.change(second.id, changes), { name: 'LastAdmin' });
  }
  assert.deepEqual(await one.users.find(second.id), second);
  await one.users.change(second.id, { account: 'other' });
});

test('without the database a session that is known goes on, and unknown ones are refused as unavailable', async () => {
  const session = { id: 'x', userId: 'u', usedAtMs: Date.now(), endsAtMs: Date.now() + 1e6 };
  let fails = false;
  const problems: unknown[] = [];
  const token = 'A'.repeat(43);
  const sessionCache = new SessionCache(
    {
      async changedSince(revision) {
        if (fails) throw new Error('no route to host');
        const user = { id: 'u', name: 'ada', role: 'viewer', account: 'a', createdAtMs: 0 } as const;
        const sessions = [{ ...session, id: digestOf(token), isRevoked: false }];
        return revision < 0
          ? { revision: 1, users: [user], sessions }
          : { revision, users: [], sessions: [] };
      },
      find: async () => undefined,
      touch: async () => {},
      follow: () => () => {},
    },
    { onError: (error) => problems.push(error) },
  );
  assert.equal(await nameOf(sessionCache.find(token)), 'ada');
  fails = true;
  const goesOn = async (): Promise<boolean> => {
    assert.equal(await nameOf(sessionCache.find(token)), 'ada');
    return problems.length > 0;
  };
  await eventually(goesOn, 'the database is asked');
  const unknown = 'B'.repeat(43);
  for (let i = 0; i < 30; i++)
    await assert.rejects(async () => sessionCache.find(unknown), /no route to host/, `${i}`);
  fails = false;
  assert.equal(await sessionCache.findNew(unknown), undefined);
});

test('strangers who use up the lookups do not keep a new session out', async () => {
  const user = { id: 'u', name: 'ada', role: 'viewer', account: 'a', createdAtMs: 0 } as const;
  const sessions: (Session & { readonly isRevoked: boolean })[] = [];
  const sessionCache = new SessionCache({
    changedSince: async () => ({ revision: 1, users: [user], sessions }),
    find: async () => undefined,
    touch: async () => {},
    follow: () => () => {},
  });
  const token = 'A'.repeat(43);
  const stranger = 'B'.repeat(43);
  await Promise.all(Array.from({ length: 40 }, () => sessionCache.find(stranger)));
  const usedAtMs = Date.now();
  sessions.push({ id: digestOf(token), userId: 'u', usedAtMs, endsAtMs: usedAtMs + 1e6, isRevoked: false });
  assert.equal(await nameOf(sessionCache.findNew(token)), 'ada');
});

test('the key of a playground has the account of its user and ends with the session', async (t) => {
  let keys: KeyCache | undefined;
  const { port, database, acts } = await startJobServer(
    t,
    {},
    {
      keys: {
        authenticate: (presented) => keys?.authenticate(presented),
        find: (id) => keys?.find(id),
        lookUp: (presented) => keys?.lookUp(presented),
      },
    },
  );
  keys = await KeyCache.open(new KeyTable(database), { pollMs: 50 });
  t.after(() => keys?.close());
  await addUser(database, 'developer');
  const browser = await signIn(port, 'developer');
  const made = await browser.call('POST', '/v1/admin/playground-key');
  assert.equal(made.status, 201);
  const { key, id, scopes, expires_at } = made.json;
  assert.deepEqual(scopes, ['predict', 'voiceid', 'file']);
  assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 3_600_000) < 600_000);
  for (const longer of [null, new Date(Date.now() + 86_400_000).toISOString()]) {
    const refused = await browser.call('PATCH', `/v1/admin/keys/${id}`, { expires_at: longer });
    assert.deepEqual([refused.status, refused.headers['x-error-key']], [400, 'FIELD_INVALID']);
    assert.match(refused.json.message, /a key of a session, which ends by itself/);
  }
  assert.equal(
    (await browser.call('PATCH', `/v1/admin/keys/${id}`, { name: 'mine' })).json.expires_at,
    expires_at,
  );
  const use = (text: string) => request(port, '/v1/jobs', { headers: { 'x-api-key': text } });
  assert.equal((await use(key)).status, 200);
  assert.equal(keys.find(id)?.account, 'acme');
  const next = await browser.call('POST', '/v1/admin/playground-key');
  await eventually(async () => (await use(next.json.key)).status === 200, 'the key of a second page works');
  assert.equal((await use(key)).status, 200);
  assert.ok(acts.every(({ event }) => event !== 'keys_removed'));
  await database.execute('UPDATE api_keys SET expires_at_ms = 0 WHERE id = $1', [id]);
  const last = await browser.call('POST', '/v1/admin/playground-key');
  assert.equal((await use(last.json.key)).status, 200);
  assert.deepEqual(acts.at(-1), { event: 'keys_removed', keyIds: [id] });
  assert.equal((await browser.call('DELETE', '/v1/admin/session')).status, 200);
  for (const text of [last.json.key, next.json.key]) {
    await eventually(async () => (await use(text)).status === 401, 'the keys end');
  }
});

test('a session that makes many keys loses its oldest', async (t) => {
  const { port, database } = await startJobServer(t);
  await addUser(database, 'developer');
  const browser = await signIn(port, 'developer');
  const ids: string[] = [];
  for (let i = 0; i < 22; i++) ids.push((await browser.call('POST', '/v1/admin/playground-key')).json.id);
  const keys = await new KeyTable(database).list();
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== undefined).map(({ id }) => id);
  assert.equal(revoked.length, 2);
  // Keys of the same millisecond are unordered.
  for (const id of revoked) assert.ok(ids.indexOf(id) < 5, `key ${ids.indexOf(id)}`);
});

onEachDatabase(
  'keys of sessions are removed a day after they are over, some with each new one',
  async (connect) => {
    const database = connect();
    await migrate(database, migrations);
    const keyTable = new KeyTable(database);
    const sessions = new SessionTable(database);
    const user = await addUser(database, 'developer');
    const session = (await sessions.create(user, undefined))?.session ?? assert.fail();
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    const stored = (name: string, more: Partial<NewKey>) =>
      newKey({ name, scopes: ['predict'], ...more }, hoursAgo(48)).key;
    const ofSession = { endsWithSession: true } as const;
    const old = Array.from({ length: 101 }, (_, i) =>
      stored(`old ${i}`, { ...ofSession, expiresAt: hoursAgo(25) }),
    );
    await storeKeys(database, [
      ...old,
      stored('expired today', { ...ofSession, expiresAt: hoursAgo(23) }),
      { ...stored('revoked', ofSession), revokedAt: hoursAgo(25) },
      stored('alive', { ...ofSession, expiresAt: hoursAgo(-1) }),
      stored('of somebody', { expiresAt: hoursAgo(25) }),
    ]);
    const keys = new SessionKeys(database);
    const add = async (before = async () => {}) =>
      (await keys.add(session.id, newKey({ name: 'new', scopes: ['predict'], ...ofSession }).key, before))
        ?.length;
    const names = async () => (await keyTable.list()).map(({ name }) => name).sort();
    await assert.rejects(
      add(async () => {
        throw new Error('The disk is full.');
      }),
    );
    assert.equal((await names()).length, 105, 'without the audit, nothing is removed');
    assert.equal(await add(), 100);
    assert.equal(await add(), 2);
    assert.equal(await add(), 0);
    assert.deepEqual(await names(), ['alive', 'expired today', 'new', 'new', 'new', 'of somebody']);
    assert.equal(await keys.add('no session', old[0] ?? assert.fail(), async () => {}), undefined);
  },
);
