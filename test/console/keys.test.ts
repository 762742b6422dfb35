// SPDX-License-Identifier: Apache-2.0
//
// API keys over the admin API, in either database: permissions and rules.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdminClient, VeravoxError } from '../../client/src/index.js';
import { keyRoutes } from '../../src/console/routes/key-routes.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { newKey } from '../../src/state/keys/api-key.js';
import { KeyCache } from '../../src/state/keys/key-cache.js';
import { KeyTable } from '../../src/state/keys/key-table.js';
import type { AuditEvent } from '../../src/state/records/audit-chain.js';
import { UsageTable } from '../../src/state/records/usage-table.js';
import { ADMIN, adminCaller, someone } from '../support/admin-caller.js';
import { type Connect, onEachDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { request } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { storeKeys } from '../support/stored-keys.js';
import { ADMIN_API_KEY, testAuthenticator } from '../support/test-server.js';

const limits = { rateLimitRequests: 100, rateLimitWindowS: 60, keyConcurrency: 8, receiveTimeoutMs: 60_000 };
const developer = someone('developer', 'acme');
const wanted = { name: 'batch', scopes: ['predict'] };

async function open(connect: Connect) {
  const database = connect();
  await migrate(database, migrations);
  const keyTable = new KeyTable(database);
  const usageTable = new UsageTable(database);
  const notes: AuditEvent[] = [];
  const audit = { fails: false };
  const noteFirst = async (event: AuditEvent): Promise<void> => {
    if (audit.fails) throw new Error('The disk is full.');
    notes.push(event);
  };
  const call = adminCaller((guard) => keyRoutes(guard, { keyTable, usageTable, noteFirst, config: limits }));
  return { keyTable, usageTable, notes, audit, call, database };
}

/** Invalid keys, and the refusal's explanation of each. */
const badFields: readonly [fields: object, message: RegExp][] = [
  [{ name: '' }, /name/],
  [{ name: 'x'.repeat(101) }, /100 visible characters/],
  [{ name: 'two\nlines' }, /visible characters/],
  [{ name: 'clears \u009b2J the screen' }, /clears \\u009b2J the screen/],
  [{ name: 'a\u202eb' }, /visible characters, .* the string "a\\u202eb"/],
  [{ name: 7 }, /name/],
  [{ scopes: [] }, /scopes/],
  [{ scopes: ['predict', 'everything'] }, /scopes\[1\]/],
  [{ scopes: 'predict' }, /scopes/],
  [{ rate: { requests: 5 } }, /window_s/],
  [{ rate: { requests: -1, window_s: 60 } }, /rate\.requests/],
  [{ rate: { requests: 1.5, window_s: 60 } }, /rate\.requests/],
  [{ rate: { requests: 5, window_s: 86_401 } }, /rate\.window_s/],
  [{ rate: '5/s' }, /rate/],
  [{ concurrency: -1 }, /concurrency/],
  [{ concurrency: 1e9 }, /concurrency/],
  [{ expires_at: 'soon' }, /expires_at/],
  [{ expires_at: '2001-01-01T00:00:00Z' }, /in the future/],
  [{ expires_at: '2099-02-31T12:00:00Z' }, /a day of the calendar for expires_at but received 2099-02-31T/],
  [{ expires_at: '2099-02-28T25:00:00Z' }, /expires_at/],
  [{ expires_at: '2999-01-01T00:00:00Z' }, /at most 100 years/],
];

onEachDatabase('what no key may be is refused, and nothing is made, changed or noted', async (connect) => {
  const { keyTable, notes, call } = await open(connect);
  const key = newKey({ name: 'as it was', scopes: ['predict'] }).key;
  await storeKeys(connect(), [key]);
  for (const [fields, message] of [...badFields, [{ account: 'Big Corp' }, /account/] as const]) {
    const answer = await call(ADMIN, 'POST', '/v1/admin/keys', { ...wanted, ...fields });
    assert.deepEqual([answer.status, answer.key], [400, 'FIELD_INVALID'], JSON.stringify(fields));
    assert.match(answer.message, message);
  }
  for (const [fields, message] of badFields) {
    const answer = await call(ADMIN, 'PATCH', `/v1/admin/keys/${key.id}`, fields);
    assert.deepEqual([answer.status, answer.key], [400, 'FIELD_INVALID'], JSON.stringify(fields));
    assert.match(answer.message, message);
  }
  for (const [method, body] of [
    ['PATCH', { name: 'x' }],
    ['DELETE', undefined],
  ] as const) {
    for (const id of ['000000000000', '..', '%00', "' OR 1=1 --", '']) {
      const answer = await call(ADMIN, method, `/v1/admin/keys/${id}`, body);
      assert.deepEqual([answer.status, answer.key], [404, 'KEY_NOT_FOUND'], id);
    }
  }
  for (const query of ['limit=0', 'limit=1000', 'cursor=abc', 'cursor=a+b', 'state=dead', 'account=A']) {
    assert.equal((await call(ADMIN, 'GET', `/v1/admin/keys?${query}`)).key, 'FIELD_INVALID', query);
  }
  assert.deepEqual(await keyTable.list(), [key]);
  assert.deepEqual(notes, []);
});

onEachDatabase('developers make a limited number of keys of their account', async (connect) => {
  const { call, database } = await open(connect);
  await database.execute(
    'INSERT INTO api_keys (id, name, account, scopes, secret_sha256, created_at_ms, revoked_at_ms, revision) ' +
      'WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 9999) ' +
      `SELECT 'key' || n, 'k', 'acme', 'predict', '', 1, 1, 0 FROM numbers`,
  );
  const create = (by: typeof developer) => call(by, 'POST', '/v1/admin/keys', { ...wanted, account: 'acme' });
  assert.equal((await create(developer)).status, 201);
  const refused = await create(developer);
  assert.deepEqual([refused.status, refused.key], [403, 'KEY_NOT_ALLOWED']);
  assert.match(refused.message, /Only administrators make more than 10000 keys/);
  assert.equal((await create(ADMIN)).status, 201);
});

onEachDatabase(
  'developers stay in their account, below admin and within the limits of the server',
  async (connect) => {
    const { keyTable, notes, call } = await open(connect);
    const [foreign, operators, own] = ['other', 'acme', 'acme'].map(
      (account, i) => newKey({ name: 'k', account, scopes: i === 1 ? ['admin'] : ['predict'] }).key,
    );
    assert.ok(foreign && operators && own);
    await storeKeys(connect(), [foreign, operators, own]);
    const refused: readonly object[] = [
      { account: 'other' },
      { scopes: ['predict', 'admin'] },
      { rate: { requests: 0, window_s: 60 } },
      { rate: { requests: 101, window_s: 600 } },
      { rate: { requests: 100, window_s: 59 } },
      { concurrency: 0 },
      { concurrency: 9 },
    ];
    for (const fields of refused) {
      const made = await call(developer, 'POST', '/v1/admin/keys', { ...wanted, ...fields });
      assert.deepEqual([made.status, made.key], [403, 'KEY_NOT_ALLOWED'], JSON.stringify(fields));
      if ('account' in fields) continue;
      const changed = await call(developer, 'PATCH', `/v1/admin/keys/${own.id}`, fields);
      assert.deepEqual([changed.status, changed.key], [403, 'KEY_NOT_ALLOWED'], JSON.stringify(fields));
    }
    for (const [key, expected] of [
      [foreign, 'KEY_NOT_FOUND'],
      [operators, 'KEY_NOT_ALLOWED'],
    ] as const) {
      const path = `/v1/admin/keys/${key.id}`;
      assert.equal((await call(developer, 'PATCH', path, { name: 'mine' })).key, expected);
      assert.equal((await call(developer, 'DELETE', path)).key, expected);
    }
    assert.deepEqual([notes, (await keyTable.list()).length], [[], 3]);
    assert.match(
      (await call(developer, 'GET', '/v1/admin/keys?account=other')).message,
      /your account, acme/,
    );
    const listed = await call(developer, 'GET', '/v1/admin/keys');
    assert.deepEqual(
      new Set(listed.json.keys.map(({ id }: { id: string }) => id)),
      new Set([operators.id, own.id]),
    );
    const made = await call(developer, 'POST', '/v1/admin/keys', {
      ...wanted,
      rate: { requests: 100, window_s: 60 },
      concurrency: 8,
    });
    assert.deepEqual([made.status, made.json.account], [201, 'acme']);
    assert.equal((await call(developer, 'DELETE', `/v1/admin/keys/${own.id}`)).json.active, false);
    assert.deepEqual(
      notes.map(({ event, keyId, by }) => [event, keyId, by]),
      [
        ['key_created', made.json.id, 'user developer-1'],
        ['key_revoked', own.id, 'user developer-1'],
      ],
    );
  },
);

onEachDatabase('a key shows its secret once, and works with what it was given', async (connect) => {
  const { keyTable, usageTable, call } = await open(connect);
  const keyCache = await KeyCache.open(keyTable);
  const fields = {
    name: '<img src=x onerror=alert(1)> "\'; DROP',
    account: 'acme',
    scopes: ['file', 'admin'],
    rate: { requests: 600, window_s: 120 },
    concurrency: 4,
    expires_at: '2099-01-31T13:00:00+01:00',
  };
  const { json, reply } = await call(ADMIN, 'POST', '/v1/admin/keys', fields);
  assert.deepEqual(reply?.headers, [['cache-control', 'no-store']]);
  const { key, id, created_at, ...shown } = json;
  assert.deepEqual(shown, {
    ...fields,
    expires_at: '2099-01-31T12:00:00.000Z',
    ends_with_session: false,
    active: true,
    revoked_at: null,
    last_used_day: null,
  });
  assert.ok(Math.abs(Date.now() - Date.parse(created_at)) < 60_000);
  await eventually(() => keyCache.authenticate(key)?.id === id, 'the key works');
  assert.deepEqual(keyCache.authenticate(key)?.rate, { requests: 600, windowS: 120 });
  const row = { keyId: id, account: 'acme', requests: 1, errors: 0, audioS: 0, windows: 0, bytes: 0 };
  for (const day of ['2026-11-03', '2026-11-20']) {
    await usageTable.add({ id: day, day, rows: [{ ...row, route: '/v1/predict' }] });
  }
  const list = await call(ADMIN, 'GET', '/v1/admin/keys');
  assert.equal(list.json.keys[0].last_used_day, '2026-11-20');
  assert.ok(!JSON.stringify(list.json).includes(key.split('_').slice(2).join('_')));
  keyCache.close();
});

onEachDatabase('a change is partial, null takes a limit away, and every server follows', async (connect) => {
  const { keyTable, notes, call } = await open(connect);
  const created = await keyTable.create({
    name: 'old',
    account: 'acme',
    scopes: ['predict'],
    rate: { requests: 1, windowS: 1 },
    concurrency: 2,
    expiresAt: new Date('2001-01-01'),
  });
  const { id } = created.key;
  const keyCache = await KeyCache.open(keyTable);
  assert.equal(keyCache.authenticate(created.text), undefined, 'it is over');
  const path = `/v1/admin/keys/${id}`;
  const first = await call(ADMIN, 'PATCH', path, { rate: null, expires_at: null, unknown: 1, name: null });
  assert.deepEqual(
    [first.json.name, first.json.rate, first.json.concurrency, first.json.expires_at, first.json.active],
    ['old', null, 2, null, true],
  );
  await eventually(() => keyCache.authenticate(created.text) !== undefined, 'the key works again');
  assert.deepEqual([keyCache.find(id)?.rate, keyCache.find(id)?.concurrency], [undefined, 2]);
  const second = await call(ADMIN, 'PATCH', path, { scopes: ['file', 'predict'], concurrency: 0 });
  assert.deepEqual([second.json.scopes, second.json.concurrency], [['predict', 'file'], 0]);
  await eventually(() => keyCache.find(id)?.scopes.has('file') === true, 'the scopes are known');
  await call(ADMIN, 'DELETE', path);
  await eventually(() => keyCache.authenticate(created.text) === undefined, 'the key is refused');
  const { json } = await call(ADMIN, 'DELETE', path);
  const late = await call(ADMIN, 'PATCH', path, { expires_at: '2099-01-01T00:00:00Z' });
  assert.deepEqual([late.status, late.key], [400, 'KEY_REVOKED']);
  assert.deepEqual((await call(ADMIN, 'DELETE', path)).json, json, 'the first time stays');
  const noted = { event: 'key_changed', keyId: id, account: 'acme', by: 'user admin-1' };
  assert.deepEqual(notes.slice(0, 2), [
    { ...noted, rate: null, expiresAt: null },
    { ...noted, scopes: ['predict', 'file'], concurrency: 0 },
  ]);
  keyCache.close();
});

onEachDatabase('no change without its line in the audit', async (connect) => {
  const { keyTable, audit, call } = await open(connect);
  const { key } = await keyTable.create({ name: 'k', scopes: ['predict'] });
  audit.fails = true;
  const path = `/v1/admin/keys/${key.id}`;
  await assert.rejects(call(ADMIN, 'POST', '/v1/admin/keys', wanted), /disk is full/);
  await assert.rejects(call(ADMIN, 'PATCH', path, { name: 'other' }), /disk is full/);
  await assert.rejects(call(ADMIN, 'DELETE', path), /disk is full/);
  assert.deepEqual(await keyTable.list(), [key]);
});

onEachDatabase('pages hold every key once, the newest first', async (connect) => {
  const { keyTable, call } = await open(connect);
  const keys = Array.from({ length: 7 }, (_, i) =>
    // Some in the same millisecond.
    newKey({ name: `k${i}`, scopes: ['predict'] }, new Date(1000 * Math.floor(i / 3))),
  ).map(({ key }) => key);
  await storeKeys(connect(), keys);
  await keyTable.revoke(keys[0]?.id ?? '');
  const seen: { id: string; created_at: string }[] = [];
  let cursor = '';
  do {
    const { json } = await call(ADMIN, 'GET', `/v1/admin/keys?limit=2${cursor && `&cursor=${cursor}`}`);
    assert.ok(json.keys.length <= 2);
    seen.push(...json.keys);
    cursor = json.next_cursor ?? '';
  } while (cursor !== '');
  assert.deepEqual(new Set(seen.map(({ id }) => id)), new Set(keys.map(({ id }) => id)));
  assert.equal(seen.length, 7);
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => b.created_at.localeCompare(a.created_at)),
  );
  assert.equal((await call(ADMIN, 'GET', '/v1/admin/keys?state=active')).json.keys.length, 6);
});

test('the client makes, changes and revokes a key over HTTP, and the key is used meanwhile', async (t) => {
  const { port, origin, database } = await startJobServer(t, {}, { keys: testAuthenticator });
  const admin = new AdminClient({ baseUrl: origin, apiKey: ADMIN_API_KEY });
  const made = await admin.createKey({ name: 'over HTTP', scopes: ['predict'] });
  assert.match(made.key, /^vx_[0-9a-f]{12}_/);
  const changed = await admin.changeKey(made.id, { concurrency: 3 });
  assert.deepEqual([changed.concurrency, changed.name], [3, 'over HTTP']);
  assert.deepEqual((await admin.listKeys({ state: 'active' })).keys, [changed]);
  assert.equal((await admin.revokeKey(made.id)).active, false);
  assert.deepEqual((await admin.listKeys({ state: 'active' })).keys, []);
  await assert.rejects(
    admin.changeKey('000000000000', { name: 'x' }),
    (error) => error instanceof VeravoxError && error.status === 404,
  );
  const anonymous = await request(port, '/v1/admin/keys');
  assert.equal(anonymous.status, 401);
  await database.close();
  await assert.rejects(admin.listKeys(), (error) => error instanceof VeravoxError && error.status === 503);
});
