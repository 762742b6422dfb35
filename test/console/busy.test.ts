// SPDX-License-Identifier: Apache-2.0
//
// The admin API while another process of the host, such as a backup or a command, holds the SQLite file.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Database, DatabaseError } from '../../src/state/database/database.js';
import { SqliteDatabase } from '../../src/state/database/sqlite-database.js';
import { addUser, type Browser, PASSWORD, signIn } from '../support/admin.js';
import { type Answer, request } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';

interface Change {
  readonly name: string;
  send(): Promise<Answer>;
}

async function server(t: TestContext, open: (file: string) => SqliteDatabase) {
  const started = await startJobServer(t, {}, {}, {}, open);
  const { port, database } = started;
  await addUser(database, 'admin');
  const user = await addUser(database, 'viewer');
  const browser = await signIn(port, 'admin');
  const { id: keyId } = (await browser.call('POST', '/v1/admin/keys', newKey)).json;
  const changes = [
    ...changesOf(browser, user.id, keyId),
    { name: 'sign in', send: () => post(port, '/v1/admin/session', { name: 'viewer', password: PASSWORD }) },
  ];
  return { ...started, browser, changes };
}

const newKey = { name: 'a key', scopes: ['predict'] };
const post = (port: number, path: string, body: object): Promise<Answer> =>
  request(port, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  });

/** Changes that end the session come last. */
function changesOf(browser: Browser, userId: string, keyId: string): Change[] {
  const user = `/v1/admin/users/${userId}`;
  const key = `/v1/admin/keys/${keyId}`;
  const changes = [
    ['POST', '/v1/admin/users', { name: 'new', role: 'viewer' }],
    ['PATCH', user, { role: 'developer' }],
    ['POST', `${user}/link`, undefined],
    ['DELETE', `${user}/sessions`, undefined],
    ['POST', '/v1/admin/keys', newKey],
    ['PATCH', key, { name: 'another name' }],
    ['DELETE', key, undefined],
    ['POST', '/v1/admin/playground-key', undefined],
    ['DELETE', '/v1/admin/sessions', undefined],
    ['POST', '/v1/admin/password', { password: PASSWORD, new_password: 'ten other words' }],
    ['DELETE', '/v1/admin/session', undefined],
  ] as const;
  return changes.map(([method, path, body]) => ({
    name: `${method} ${path}`,
    send: () => browser.call(method, path, body),
  }));
}

/** All tables that the admin API changes, except the counts of sign-in attempts. */
async function stateOf(database: Database): Promise<object> {
  const tables = ['admin_users', 'admin_sessions', 'admin_links', 'api_keys', 'revisions'];
  const rows = tables.map((table) => database.query(`SELECT * FROM ${table} ORDER BY 1`));
  return Object.fromEntries((await Promise.all(rows)).map((found, i) => [tables[i], found]));
}

const expectBusy = ({ status, headers }: Answer, name: string): void =>
  assert.deepEqual(
    [status, headers['x-error-key'], headers['retry-after']],
    [503, 'DATABASE_UNAVAILABLE', '5'],
    name,
  );

test('while another process writes for too long, changes are 503 and nothing changes; reading goes on', async (t) => {
  const impatient = (file: string) => new SqliteDatabase(file, { pollMs: 20, busyTimeoutMs: 30 });
  const { database, browser, changes } = await server(t, impatient);
  const holder = new SqliteDatabase(database.name);
  t.after(() => holder.close());
  const before = await stateOf(database);
  await holder.transaction(async () => {
    for (const { name, send } of changes) expectBusy(await send(), name);
    assert.equal((await browser.call('GET', '/v1/admin/users')).status, 200);
  });
  assert.deepEqual(await stateOf(database), before);
  for (const { name, send } of changes.filter(({ name }) => name !== 'sign in')) {
    const { status, text } = await send();
    assert.ok(status === 200 || status === 201, `${name}: ${text}`);
  }
});

test('if the database gets busy in the middle of a change, nothing of it has happened', async (t) => {
  // Counts down with each write; at 0 the database is busy. The server's periodic writes would count as
  // writes of the change.
  t.mock.timers.enable({ apis: ['setInterval'] });
  let writesLeft = Number.POSITIVE_INFINITY;
  const busyAtZero = (file: string): SqliteDatabase =>
    new Proxy(new SqliteDatabase(file, { pollMs: 20 }), {
      get(database, name) {
        const member: unknown = Reflect.get(database, name, database);
        if (typeof member !== 'function') return member;
        if (name !== 'transaction' && name !== 'execute') return member.bind(database);
        return (...given: unknown[]) =>
          --writesLeft === 0
            ? Promise.reject(new DatabaseError('busy', 'SQLITE_BUSY', 'The database is locked.'))
            : member.apply(database, given);
      },
    });
  const { database, changes } = await server(t, busyAtZero);
  for (const { name, send } of changes) {
    let writes = 1;
    for (; ; writes++) {
      const before = await stateOf(database);
      writesLeft = writes;
      const answer = await send();
      if (answer.status < 300) break;
      expectBusy(answer, `${name}, write ${writes}`);
      assert.deepEqual(await stateOf(database), before, `${name}, write ${writes}`);
      assert.ok(writes < 10, `${name} never succeeds`);
    }
    assert.ok(writes > 1, `${name} writes`);
  }
});
