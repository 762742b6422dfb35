// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import https from 'node:https';
import { test } from 'node:test';
import { AdminClient } from '../../client/src/index.js';
import { ServiceError } from '../../src/base/errors/service-error.js';
import { SignIns } from '../../src/console/routes/sign-ins.js';
import { LinkTable } from '../../src/console/users/link-table.js';
import { Passwords } from '../../src/console/users/passwords.js';
import { digestOf } from '../../src/console/users/secret-token.js';
import { UserTable } from '../../src/console/users/user-table.js';
import { DatabaseError, type Row, type Value } from '../../src/state/database/database.js';
import { SqliteDatabase } from '../../src/state/database/sqlite-database.js';
import type { AuditEvent } from '../../src/state/records/audit-chain.js';
import { addUser, cheapPasswords, PASSWORD, postSession, signIn } from '../support/admin.js';
import { makeCertificate } from '../support/certificates.js';
import { request } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const path = '/v1/admin/session';

test('with name and password, whatever the case of the name, a session begins', async (t) => {
  const { port, database } = await startJobServer(t);
  const user = await addUser(database, 'developer', 'Ada Lovelace');
  const { answer, call, csrfToken } = await signIn(port, 'ada LOVELACE');
  const { expires_at, csrf_token, ...who } = answer.json;
  assert.deepEqual(who, {
    kind: 'user',
    id: user.id,
    name: 'Ada Lovelace',
    role: 'developer',
    account: 'acme',
  });
  assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 7 * 86_400_000) < 600_000);
  assert.match(csrf_token, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual((await call('GET', path)).json, answer.json);
  assert.equal((await call('GET', path)).headers['cache-control'], 'no-store');
  assert.ok(!answer.text.includes(csrfToken.slice(0, 20)) || csrf_token === csrfToken);
});

test('the cookie is for this host, for no script and for no other site; with TLS in front, for HTTPS only', async (t) => {
  const { port, database } = await startJobServer(t, {
    trustedProxies: [{ family: 'ipv4', address: '127.0.0.1', prefixBits: 32 }],
  });
  await addUser(database, 'viewer');
  const plain = await signIn(port, 'viewer');
  assert.match(
    String(plain.answer.headers['set-cookie']),
    /^veravox=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
  );
  const proxied = await signIn(port, 'viewer', { 'x-forwarded-proto': 'https' });
  assert.match(
    String(proxied.answer.headers['set-cookie']),
    /^__Host-veravox=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
  );
  const forwarded = { 'x-forwarded-proto': 'https' };
  assert.equal((await proxied.call('GET', path, undefined, forwarded)).status, 200);
  // A cookie without the prefix may be another host's.
  const cookie = proxied.cookie.replace('__Host-', '');
  assert.equal((await request(port, path, { headers: { ...forwarded, cookie } })).status, 401);
});

test('with TLS of the server itself the cookie is for HTTPS, too', async (t) => {
  const { certFile, keyFile } = makeCertificate(temporaryFolder(t), 'dashboard');
  const { port, database } = await startJobServer(t, { tlsCertFile: certFile, tlsKeyFile: keyFile });
  await addUser(database, 'viewer');
  const headers = { 'content-type': 'application/json' };
  const options = { host: '127.0.0.1', port, path, method: 'POST', headers, agent: false } as const;
  const cookies = await new Promise<string[]>((resolve, reject) => {
    const outgoing = https.request({ ...options, rejectUnauthorized: false }, (incoming) => {
      incoming.resume();
      resolve(incoming.headers['set-cookie'] ?? []);
    });
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify({ name: 'viewer', password: PASSWORD }));
  });
  assert.match(String(cookies), /^__Host-veravox=[\w-]{43}; .*HttpOnly; SameSite=Strict; Secure$/);
});

test('a proxy that is not trusted cannot say that there is TLS', async (t) => {
  const { port, database } = await startJobServer(t);
  await addUser(database, 'viewer');
  const { answer } = await signIn(port, 'viewer', { 'x-forwarded-proto': 'https' });
  assert.match(String(answer.headers['set-cookie']), /^veravox=[^;]+; (?!.*Secure)/);
});

test('a change with the cookie needs the token of its session, and comes from a page of this server', async (t) => {
  const { port, database } = await startJobServer(t);
  await addUser(database, 'admin');
  const browser = await signIn(port, 'admin');
  const other = await signIn(port, 'admin');
  const body = { name: 'new', role: 'viewer' };
  const refused: Record<string, string | undefined>[] = [
    { 'x-csrf-token': '' },
    { 'x-csrf-token': 'wrong' },
    { 'x-csrf-token': other.csrfToken },
    { 'x-csrf-token': browser.cookie.split('=')[1] },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': undefined, origin: 'https://evil.example' },
    { 'sec-fetch-site': undefined, origin: 'null' },
    { 'sec-fetch-site': undefined, origin: `http://127.0.0.1:${port}.evil.example` },
  ];
  for (const headers of refused) {
    const { status, headers: answered } = await browser.call('POST', '/v1/admin/users', body, headers);
    assert.deepEqual([status, answered['x-error-key']], [403, 'CSRF_REFUSED'], JSON.stringify(headers));
  }
  const listed = await browser.call('GET', '/v1/admin/users');
  assert.equal(listed.json.users.length, 1, 'nothing has changed');
  const own = { 'sec-fetch-site': undefined, origin: `http://127.0.0.1:${port}` };
  assert.equal((await browser.call('POST', '/v1/admin/users', body, own)).status, 201);
});

test('no page of another origin signs anybody in', async (t) => {
  const { port, database } = await startJobServer(t);
  await addUser(database, 'viewer');
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
    const answer = await postSession(port, { name: 'viewer', password: PASSWORD }, headers);
    assert.deepEqual([answer.status, answer.headers['x-error-key']], [403, 'CSRF_REFUSED']);
    assert.equal(answer.headers['set-cookie'], undefined);
  }
});

test('a session that somebody has put into the browser is not taken over, and an earlier one ends', async (t) => {
  const { port, database } = await startJobServer(t);
  await addUser(database, 'viewer');
  const planted = `veravox=${'A'.repeat(43)}`;
  const first = await signIn(port, 'viewer', { cookie: planted });
  assert.notEqual(first.cookie, planted);
  assert.equal((await request(port, path, { headers: { cookie: planted } })).status, 401);
  const second = await signIn(port, 'viewer', { cookie: first.cookie });
  assert.notEqual(second.cookie, first.cookie);
  assert.equal((await first.call('GET', path)).status, 401);
  assert.equal((await second.call('GET', path)).status, 200);
});

test('a cookie of another host is not taken for ours, whatever its name begins with or its value contains', async (t) => {
  const { port, database } = await startJobServer(t, {
    trustedProxies: [{ family: 'ipv4', address: '127.0.0.1', prefixBits: 32 }],
  });
  await addUser(database, 'viewer');
  const forwarded = { 'x-forwarded-proto': 'https' };
  const { cookie } = await signIn(port, 'viewer', forwarded);
  const statusWith = async (sent: string | string[]): Promise<number> =>
    (await request(port, path, { headers: { ...forwarded, cookie: sent } })).status;
  // Any host of the domain can set these cookies, since their names lack the prefix.
  for (const start of ['theme=1,', 'theme=1, ', 'theme=1; \u00a0', 'theme=1; \u2000', 'theme=1; \u3000']) {
    const bytes = Buffer.from(`${start}${cookie}`).toString('latin1');
    assert.equal(await statusWith(bytes), 401, JSON.stringify(start));
  }
  const planted = cookie.replace(/=.*/, `=${'A'.repeat(43)}`);
  assert.equal(await statusWith(Buffer.from(`\u00a0${planted}; ${cookie}`).toString('latin1')), 200);
  assert.equal(await statusWith(`theme=1;${cookie}`), 200);
  assert.equal(await statusWith(`theme=1;\t ${cookie}; other=2`), 200);
  assert.equal(await statusWith(['theme=1', cookie]), 200, 'also in a header of its own, which proxies make');
});

test('who knows the old password cannot change it against a link that was used meanwhile', async (t) => {
  const { port, database } = await startJobServer(t);
  const user = await addUser(database, 'viewer');
  const thief = await signIn(port, 'viewer');
  const users = new UserTable(database);
  const slow = new Passwords({ logCost: 4 });
  const signIns = new SignIns({ database, passwords: slow, note: () => {}, noteFirst: async () => {} });
  const hash = slow.hash.bind(slow);
  const links = new LinkTable(database);
  const token = await links.createFor(user.id);
  slow.hash = async (password) => {
    // The old password is already checked.
    await links.redeem(token, await cheapPasswords().hash('chosen by the owner'));
    return hash(password);
  };
  const given = { password: PASSWORD, newPassword: 'chosen by the thief' };
  const visitor = { clientAddress: '192.0.2.1', earlierId: undefined };
  const sessionId = digestOf(thief.cookie.split('=')[1] ?? '');
  await assert.rejects(
    signIns.changePassword(user, sessionId, given, visitor),
    (error) => error instanceof ServiceError && error.key === 'SIGN_IN_REFUSED',
  );
  const stored = (await users.find(user.id))?.password;
  assert.ok(await cheapPasswords().verify('chosen by the owner', stored));
});

test('without the audit, no password changes and no link is used up', async (t) => {
  const audit = { fails: true };
  const acts: AuditEvent[] = [];
  const noteFirst = async (event: AuditEvent): Promise<void> => {
    if (audit.fails) throw new Error('The disk is full.');
    acts.push(event);
  };
  const { port, database } = await startJobServer(t, {}, {}, { noteFirst });
  const token = String(await new LinkTable(database).createFirst());
  const welcome = { token, password: PASSWORD, name: 'Grace' };
  assert.equal((await postSession(port, welcome)).status, 500);
  assert.deepEqual(await new UserTable(database).list(), []);
  audit.fails = false;
  const grace = await signIn(port, welcome);
  const userId = String(grace.answer.json.id);
  const created = { event: 'user_created', userId, role: 'admin', account: 'default', by: 'link' };
  const passwordSet = { event: 'password_set', userId, by: 'link', clientAddress: '127.0.0.1' };
  assert.deepEqual(acts, [created, passwordSet]);
  const change = { password: PASSWORD, new_password: `${PASSWORD} of today` };
  audit.fails = true;
  assert.equal((await grace.call('POST', '/v1/admin/password', change)).status, 500);
  assert.equal((await signIn(port, 'grace')).answer.status, 200, 'with the password of before');
  audit.fails = false;
  assert.equal((await grace.call('POST', '/v1/admin/password', change)).status, 200);
  assert.deepEqual(acts.at(-1), { event: 'password_set', userId, by: `user ${userId}` });
});

test('a sign-in that has succeeded is no refusal if the database is silent a moment later', async (t) => {
  let isSilent = false;
  class SilentSometimes extends SqliteDatabase {
    override async queryPromptly<Answer extends Row>(
      sql: string,
      parameters: readonly Value[],
    ): Promise<Answer[]> {
      if (isSilent) throw new DatabaseError('unavailable', 'ETIMEDOUT', 'The database does not answer.');
      return super.queryPromptly<Answer>(sql, parameters);
    }
  }
  const { port, database } = await startJobServer(t, {}, {}, {}, (file) => new SilentSometimes(file));
  const user = await addUser(database, 'developer', 'Ada');
  const first = await signIn(port, 'ada');
  const token = await new LinkTable(database).createFor(user.id);
  isSilent = true;
  const another = await signIn(port, 'ada');
  const byLink = await signIn(port, { token, password: `${PASSWORD} of today` });
  const unknown = await byLink.call('GET', path);
  assert.deepEqual([unknown.status, unknown.headers['x-error-key']], [503, 'DATABASE_UNAVAILABLE']);
  isSilent = false;
  const whoIs = ({ answer: { json } }: typeof first): object => [json.id, json.name, json.role, json.account];
  for (const begun of [another, byLink]) assert.deepEqual(whoIs(begun), whoIs(first));
  assert.deepEqual((await byLink.call('GET', path)).json, byLink.answer.json);
  assert.equal((await first.call('GET', path)).status, 401, 'the link has ended earlier sessions');
});

test('signing out ends the session at once, and the cookie goes', async (t) => {
  const { port, database } = await startJobServer(t);
  await addUser(database, 'viewer');
  const browser = await signIn(port, 'viewer');
  const other = await signIn(port, 'viewer');
  const answer = await browser.call('DELETE', path);
  assert.deepEqual(answer.json, { sessions: 1 });
  assert.match(String(answer.headers['set-cookie']), /^veravox=; Path=\/; Max-Age=0;/);
  assert.equal((await browser.call('GET', path)).status, 401);
  assert.equal((await other.call('GET', path)).status, 200);
});

test('a link lets the first user choose name and password, once; further ones need to be made', async (t) => {
  const { port, database } = await startJobServer(t);
  const links = new LinkTable(database);
  const replaced = String(await links.createFirst());
  const token = String(await links.createFirst());
  const short = await postSession(port, { token, password: 'too short' });
  assert.deepEqual([short.status, short.json.message.includes('12 to 256 characters')], [400, true]);
  const admin = await signIn(port, { token, password: PASSWORD, name: 'Grace' });
  assert.equal(admin.answer.json.role, 'admin');
  assert.equal(admin.answer.json.account, null);
  for (const used of [token, replaced, 'A'.repeat(43)]) {
    const answer = await postSession(port, { token: used, password: PASSWORD });
    assert.deepEqual([answer.status, answer.headers['x-error-key']], [401, 'LINK_REFUSED']);
  }
  assert.equal(await links.createFirst(), undefined);
  assert.equal((await signIn(port, 'grace')).answer.status, 200);
});

test('the client signs in with a password, invites, changes and signs out', async (t) => {
  const { origin, port, database } = await startJobServer(t);
  await addUser(database, 'admin');
  let cookie = '';
  // Node's fetch does not handle cookies.
  const fetchWithCookie: typeof fetch = async (url, init = {}) => {
    const response = await fetch(url, { ...init, headers: { ...init.headers, cookie } });
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    return response;
  };
  const client = new AdminClient({ baseUrl: origin, fetch: fetchWithCookie });
  assert.deepEqual(await client.getSignInWays(), { password: true, oidc: false });
  await assert.rejects(client.getSession(), { errorKey: 'SIGN_IN_REQUIRED' });
  assert.equal((await client.signIn({ name: 'admin', password: PASSWORD })).role, 'admin');
  const { user, link } = await client.createUser({ name: 'lin', role: 'developer', account: 'acme' });
  assert.equal(user.has_password, false);
  assert.equal(link.path, `/dashboard/#/welcome?token=${link.token}&name=lin`);
  await assert.rejects(client.createUser({ name: 'LIN', role: 'viewer' }), { errorKey: 'USER_EXISTS' });
  const lin = await signIn(port, { token: link.token, password: PASSWORD });
  assert.equal(lin.answer.json.role, 'developer');
  assert.equal((await client.changeUser(user.id, { role: 'viewer' })).role, 'viewer');
  assert.equal((await lin.call('GET', path)).status, 401, 'the change has signed them out');
  assert.deepEqual(
    (await client.listUsers()).users.map(({ name }) => name),
    ['admin', 'lin'],
  );
  assert.deepEqual(await client.signOut(), { sessions: 1 });
  await assert.rejects(client.getSession(), { errorKey: 'SIGN_IN_REQUIRED' });
});
