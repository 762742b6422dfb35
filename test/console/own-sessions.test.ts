// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdminClient } from '../../client/src/index.js';
import { digestOf, publicIdOf } from '../../src/console/users/secret-token.js';
import { IDLE_MS } from '../../src/console/users/session.js';
import { SessionTable } from '../../src/console/users/session-table.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { addUser, signIn } from '../support/admin.js';
import { onEachDatabase } from '../support/databases.js';
import { request } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { ADMIN_API_KEY } from '../support/test-keys.js';

const path = '/v1/admin/sessions';
const session = '/v1/admin/session';

const secretsOf = (cookie: string): string[] => {
  const token = cookie.split('=')[1] ?? '';
  return [token, digestOf(token)];
};

test('everybody sees their own sessions, where and when they began, and no secret', async (t) => {
  const { port, database } = await startJobServer(t);
  await addUser(database, 'viewer');
  await addUser(database, 'admin');
  const theirs = await signIn(port, 'admin');
  const first = await signIn(port, 'viewer', { 'user-agent': 'Mozilla/5.0 Firefox/145.0' });
  const second = await signIn(port, 'viewer', { 'user-agent': `\u00ad${'x'.repeat(300)}` });
  const silent = await signIn(port, 'viewer');
  const answer = await first.call('GET', path);
  assert.equal(answer.status, 200);
  const { sessions } = answer.json;
  assert.deepEqual(
    new Set(sessions.map((one: { user_agent: string | null }) => one.user_agent)),
    new Set(['Mozilla/5.0 Firefox/145.0', 'x'.repeat(200), null]),
  );
  for (const {
    id,
    is_current,
    user_agent,
    client_address,
    created_at,
    last_used_at,
    expires_at,
  } of sessions) {
    assert.match(id, /^[0-9a-f]{12}$/);
    assert.equal(is_current, user_agent === 'Mozilla/5.0 Firefox/145.0');
    assert.equal(client_address, '127.0.0.1');
    assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 600_000);
    assert.ok(Date.parse(last_used_at) >= Date.parse(created_at));
    assert.equal(Date.parse(expires_at) - Date.parse(created_at), 7 * 86_400_000);
  }
  for (const { cookie } of [first, second, silent, theirs])
    for (const secret of secretsOf(cookie)) assert.ok(!answer.text.includes(secret));
});

test('everybody ends one of their own sessions, and nobody those of others', async (t) => {
  const { port, database, acts } = await startJobServer(t);
  const user = await addUser(database, 'viewer');
  await addUser(database, 'admin');
  const [mine, other, theirs] = [
    await signIn(port, 'viewer'),
    await signIn(port, 'viewer'),
    await signIn(port, 'admin'),
  ];
  const idOf = async ({ call }: typeof mine): Promise<string> =>
    (await call('GET', path)).json.sessions.find((one: { is_current: boolean }) => one.is_current).id;
  for (const id of [await idOf(theirs), secretsOf(other.cookie)[1], 'x', '', '%00']) {
    const { status, headers } = await mine.call('DELETE', `${path}/${id}`);
    assert.deepEqual([status, headers['x-error-key']], [404, 'SESSION_NOT_FOUND'], id);
  }
  const otherId = await idOf(other);
  const ended = await mine.call('DELETE', `${path}/${otherId}`);
  assert.deepEqual([ended.status, ended.json], [200, { sessions: 1 }]);
  assert.deepEqual(acts.at(-1), { event: 'sessions_revoked', userId: user.id, by: `user ${user.id}` });
  assert.equal((await other.call('GET', session)).status, 401);
  assert.equal((await mine.call('DELETE', `${path}/${otherId}`)).status, 404);
  assert.equal((await mine.call('DELETE', `${path}/${await idOf(mine)}`)).status, 200);
  assert.equal((await mine.call('GET', session)).status, 401);
  assert.equal((await theirs.call('GET', session)).status, 200);
});

test('all others end together, with their keys, and the own one goes on', async (t) => {
  const { origin, port, database } = await startJobServer(t);
  await addUser(database, 'developer');
  await addUser(database, 'admin');
  const [mine, theirs] = [await signIn(port, 'developer'), await signIn(port, 'admin')];
  const others = [await signIn(port, 'developer'), await signIn(port, 'developer')];
  await others[0]?.call('POST', '/v1/admin/playground-key');
  const withCookie: typeof fetch = (url, init = {}) =>
    fetch(url, { ...init, headers: { ...init.headers, cookie: mine.cookie } });
  const client = new AdminClient({ baseUrl: origin, csrfToken: mine.csrfToken, fetch: withCookie });
  assert.equal((await client.listOwnSessions()).sessions.length, 3);
  assert.deepEqual(await client.endOtherSessions(), { sessions: 2 });
  assert.deepEqual(await client.endOtherSessions(), { sessions: 0 });
  for (const { call } of others) assert.equal((await call('GET', session)).status, 401);
  const [key] = await database.query('SELECT revoked_at_ms FROM api_keys');
  assert.notEqual(key?.revoked_at_ms, null);
  assert.equal((await theirs.call('GET', session)).status, 200);
  const left = (await client.listOwnSessions()).sessions;
  assert.deepEqual(
    left.map(({ is_current }) => is_current),
    [true],
  );
  await assert.rejects(client.endOwnSession('x'), { errorKey: 'SESSION_NOT_FOUND' });
});

test('without its line in the audit no session ends', async (t) => {
  const noteFirst = () => Promise.reject(new Error('The disk is full.'));
  const { port, database } = await startJobServer(t, {}, {}, { noteFirst });
  await addUser(database, 'viewer');
  const [mine, other] = [await signIn(port, 'viewer'), await signIn(port, 'viewer')];
  assert.equal((await mine.call('DELETE', path)).status, 500);
  const id = publicIdOf(secretsOf(other.cookie)[1] ?? '');
  assert.equal((await mine.call('DELETE', `${path}/${id}`)).status, 500);
  assert.equal((await other.call('GET', session)).status, 200);
});

test('a key has no sessions', async (t) => {
  const { port } = await startJobServer(t);
  for (const [method, at] of [
    ['GET', path],
    ['DELETE', path],
    ['DELETE', `${path}/x`],
  ] as const) {
    const { headers } = await request(port, at, { method, headers: { 'x-api-key': ADMIN_API_KEY } });
    assert.equal(headers['x-error-key'], 'SESSION_REQUIRED');
  }
});

onEachDatabase('a list has what has not ended, the last used first', async (connect) => {
  const database = connect();
  await migrate(database, migrations);
  const sessionTable = new SessionTable(database);
  const user = await addUser(database, 'viewer');
  const begin = async (userAgent: string): Promise<string> =>
    (await sessionTable.create(user, undefined, { clientAddress: '192.0.2.1', userAgent }))?.session.id ?? '';
  const [early, late, idle, over, ended] = [
    await begin('early'),
    await begin('late'),
    await begin('idle'),
    await begin('over'),
    await begin('ended'),
  ];
  const nowMs = Date.now();
  await sessionTable.touch(early, nowMs + 1000);
  await sessionTable.touch(late, nowMs + 2000);
  await database.execute('UPDATE admin_sessions SET used_at_ms = $1 WHERE id = $2', [nowMs - IDLE_MS, idle]);
  await database.execute('UPDATE admin_sessions SET ends_at_ms = $1 WHERE id = $2', [nowMs - 1, over]);
  await sessionTable.end(ended);
  assert.deepEqual(
    (await sessionTable.list(user.id)).map(({ userAgent, usedAtMs }) => [userAgent, usedAtMs - nowMs]),
    [
      ['late', 2000],
      ['early', 1000],
    ],
  );
});
