// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { generateKeyPair } from 'jose';
import { parseIssuer, parseRoleOfClaim } from '../../src/base/config/oidc-values.js';
import { UserTable } from '../../src/console/users/user-table.js';
import type { AuditEvent } from '../../src/state/records/audit-chain.js';
import { type Answer, request } from '../support/http-client.js';
import { type JobServer, startJobServer } from '../support/job-server.js';
import { type OidcProviderDouble, startOidcProvider } from '../support/oidc-provider.js';

const session = '/v1/admin/session';
const ada = { sub: 'ada-1', preferred_username: 'ada', groups: ['everybody', 'ml-team'] };

async function start(t: TestContext): Promise<{ provider: OidcProviderDouble; server: JobServer }> {
  const provider = await startOidcProvider(t);
  const server = await startJobServer(t, {
    oidcIssuer: provider.issuer,
    oidcClientId: provider.clientId,
    oidcClientSecret: provider.clientSecret,
    oidcRoles: [
      { value: 'everybody', role: 'viewer' },
      { value: 'ml-team', role: 'developer' },
      { value: 'ops', role: 'admin' },
    ],
    // This test's browser reaches the server under its own address.
    dashboardOrigin: 'http://dashboard.example/veravox',
  });
  provider.answers.claims = ada;
  return { provider, server };
}

const cookieOf = ({ headers }: Answer, name: string): string =>
  (headers['set-cookie'] ?? []).find((cookie) => cookie.startsWith(`${name}=`))?.split(';')[0] ?? '';

/** Follows the redirects of a browser, from the start to the callback. */
async function visit({ port }: JobServer): Promise<{ begun: Answer; query: string; cookie: string }> {
  const begun = await request(port, '/v1/admin/oidc/start');
  assert.equal(begun.status, 302, begun.text);
  const away = await fetch(String(begun.headers.location), { redirect: 'manual' });
  const back = new URL(String(away.headers.get('location')));
  assert.equal(`${back.origin}${back.pathname}`, 'http://dashboard.example/veravox/v1/admin/oidc/callback');
  return { begun, query: back.search, cookie: cookieOf(begun, 'veravox-oidc') };
}

const comeBack = ({ port }: JobServer, query: string, cookie: string): Promise<Answer> =>
  request(port, `/v1/admin/oidc/callback${query}`, { headers: { cookie } });

async function signIn(server: JobServer): Promise<Answer> {
  const { query, cookie } = await visit(server);
  return comeBack(server, query, cookie);
}

const whoIs = async ({ port }: JobServer, answer: Answer): Promise<Answer> =>
  request(port, session, { headers: { cookie: cookieOf(answer, 'veravox') } });

function assertRefused(answer: Answer, key: string): void {
  assert.equal(answer.status, 302);
  assert.equal(answer.headers.location, `../../../dashboard/#/sign-in?error=${key}`);
  assert.equal(answer.headers['x-error-key'], key);
  assert.equal(cookieOf(answer, 'veravox'), '');
}

test('somebody signs in at the provider and gets the highest role of their groups', async (t) => {
  const { server, provider } = await start(t);
  const { begun, query, cookie } = await visit(server);
  assert.match(
    String(begun.headers['set-cookie']),
    /^veravox-oidc=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
  );
  const done = await comeBack(server, query, cookie);
  assert.equal(done.status, 302);
  assert.equal(done.headers.location, '../../../dashboard/');
  assert.match(
    String(done.headers['set-cookie']),
    /veravox=[\w-]{43}; .*SameSite=Strict.*veravox-oidc=; Path=\/; Max-Age=0/,
  );
  const { json } = await whoIs(server, done);
  assert.deepEqual([json.name, json.role, json.account], ['ada', 'developer', 'default']);
  const act = { userId: json.id, by: 'oidc' };
  const isOfOidc = ({ by }: AuditEvent): boolean => by === 'oidc';
  const created = { event: 'user_created', ...act, role: 'developer', account: 'default' };
  assert.deepEqual(server.acts.filter(isOfOidc), [created]);
  provider.answers.claims = { ...ada, groups: ['ops'] };
  const again = await whoIs(server, await signIn(server));
  assert.deepEqual([again.json.id, again.json.role], [json.id, 'admin']);
  assert.deepEqual(server.acts.filter(isOfOidc), [created, { event: 'user_changed', ...act, role: 'admin' }]);
  assert.equal((await whoIs(server, done)).status, 401, 'another role is another sign-in');
  const ways = await request(server.port, '/v1/admin/sign-in');
  assert.deepEqual(ways.json, { password: true, oidc: true });
});

test('without a role nobody signs in, and whoever loses it is signed out', async (t) => {
  const { server, provider } = await start(t);
  const first = await signIn(server);
  assert.equal((await whoIs(server, first)).status, 200);
  for (const groups of [[], ['others'], 'others', undefined, { ops: true }]) {
    provider.answers.claims = { ...ada, groups };
    assertRefused(await signIn(server), 'OIDC_ROLE_MISSING');
  }
  assert.equal((await whoIs(server, first)).status, 401);
  const ends = server.acts.filter(({ event }) => event === 'sessions_revoked');
  assert.deepEqual(
    ends.map(({ by }) => by),
    ['oidc'],
  );
  const users = new UserTable(server.database);
  const [user] = await users.list();
  await users.change(String(user?.id), { isDisabled: true });
  provider.answers.claims = ada;
  assertRefused(await signIn(server), 'OIDC_ROLE_MISSING');
});

test('what the provider has not said to this browser, now, signs nobody in', async (t) => {
  const { server, provider } = await start(t);
  const forgeries: (typeof provider.answers.forge)[] = [
    { nonce: 'another' },
    { audience: 'somebody else' },
    { issuer: 'https://evil.example' },
    { key: (await generateKeyPair('RS256')).privateKey },
    { expiresInS: -600 },
    { issuedInS: 7200, expiresInS: 9000 },
    { state: 'another' },
    { error: 'access_denied' },
  ];
  for (const forge of forgeries) {
    provider.answers.forge = forge;
    assertRefused(await signIn(server), 'OIDC_REFUSED');
  }
  provider.answers.forge = {};
  for (const sub of ['', 'x'.repeat(256), 'x'.repeat(1_000_000)]) {
    provider.answers.claims = { ...ada, sub };
    assertRefused(await signIn(server), 'OIDC_REFUSED');
  }
  provider.answers.claims = ada;
  const { query, cookie } = await visit(server);
  const other = await visit(server);
  for (const wrong of ['', 'veravox-oidc=', 'veravox-oidc=a.b.c', other.cookie]) {
    assertRefused(await comeBack(server, query, wrong), 'OIDC_REFUSED');
  }
  assert.equal((await comeBack(server, query, cookie)).headers.location, '../../../dashboard/');
  assertRefused(await comeBack(server, query, cookie), 'OIDC_REFUSED');
  assert.equal((await new UserTable(server.database).list()).length, 1);
});

test('two people with one name are two users, and names are shown as text', async (t) => {
  const { server, provider } = await start(t);
  provider.answers.claims = { ...ada, preferred_username: '<b>ada</b>\u0000\u001b[2J\u202e', sub: '1' };
  const first = (await whoIs(server, await signIn(server))).json;
  assert.equal(first.name, '<b>ada</b>[2J');
  provider.answers.claims = { ...provider.answers.claims, sub: '2' };
  const second = (await whoIs(server, await signIn(server))).json;
  assert.notEqual(second.id, first.id);
  assert.match(second.name, /^<b>ada<\/b>\[2J \([0-9a-f]{8}\)$/);
  provider.answers.claims = { sub: '3', groups: ['ops'], preferred_username: 'x'.repeat(10_000) };
  assert.equal((await whoIs(server, await signIn(server))).json.name, 'x'.repeat(80));
  provider.answers.claims = { sub: '4', groups: ['ops'], email: 7 };
  assert.match((await whoIs(server, await signIn(server))).json.name, /^user [0-9a-f]{12}$/);
});

test('a provider that does not answer is said to be unavailable, and works again', async (t) => {
  const { server, provider } = await start(t);
  provider.answers.isDown = true;
  assertRefused(await request(server.port, '/v1/admin/oidc/start'), 'OIDC_UNAVAILABLE');
  provider.answers.isDown = false;
  const { query, cookie } = await visit(server);
  provider.answers.isDown = true;
  assertRefused(await comeBack(server, query, cookie), 'OIDC_UNAVAILABLE');
  provider.answers.isDown = false;
  for (const tokenStatus of [500, 503, 429]) {
    provider.answers.forge = { tokenStatus };
    assertRefused(await signIn(server), 'OIDC_UNAVAILABLE');
  }
  provider.answers.forge = {};
  assert.equal((await whoIs(server, await signIn(server))).status, 200);
});

test('the log has the causes of failed sign-ins, without tokens and claims', async (t) => {
  const { server, provider } = await start(t);
  const causeOf = (msg: string): string => {
    const line = server.log.splice(0).find((one) => one.msg === msg);
    assert.ok(line, msg);
    assert.ok(!/ada-1|token"|nonce/.test(JSON.stringify(line)), JSON.stringify(line));
    return (line.err as Error).message;
  };
  provider.answers.isDown = true;
  assertRefused(await request(server.port, '/v1/admin/oidc/start'), 'OIDC_UNAVAILABLE');
  assert.match(causeOf('request failed'), /fetch failed: .*closed/);
  provider.answers.isDown = false;
  provider.answers.forge = { error: 'access_denied' };
  assertRefused(await signIn(server), 'OIDC_REFUSED');
  assert.match(causeOf('an OpenID sign-in was refused'), /access_denied/);
  provider.answers.forge = { audience: 'somebody else' };
  assertRefused(await signIn(server), 'OIDC_REFUSED');
  assert.match(causeOf('an OpenID sign-in was refused'), /"aud"/);
  provider.answers.forge = { tokenStatus: 500 };
  assertRefused(await signIn(server), 'OIDC_UNAVAILABLE');
  assert.match(causeOf('request failed'), /unexpected HTTP response status code/);
});

test('a sign-in at the provider that fails because of the server counts as a failure', async (t) => {
  const { server } = await start(t);
  const { query, cookie } = await visit(server);
  await server.database.execute('DROP TABLE admin_users');
  assertRefused(await comeBack(server, query, cookie), 'INTERNAL');
  const line = server.log.find(({ errorKey }) => errorKey === 'INTERNAL');
  assert.ok(line);
  assert.deepEqual([line.level, line.status, line.msg], ['error', 500, 'request failed']);
  assert.match((line.err as Error).message, /admin_users/);
  const series = 'veravox_http_requests_total{route="/v1/admin/oidc/callback",status="500"}';
  assert.equal(await server.metric(series), 1);
});

test('without a provider there is nothing to go to', async (t) => {
  const { port } = await startJobServer(t);
  for (const path of ['start', 'callback?code=1&state=2']) {
    assert.equal((await request(port, `/v1/admin/oidc/${path}`)).status, 404);
  }
});

test('issuers are https, or on this machine; roles stand behind the last equals sign', () => {
  assert.equal(parseIssuer('https://id.example/realms/a'), 'https://id.example/realms/a');
  assert.equal(parseIssuer('http://127.0.0.1:9000'), 'http://127.0.0.1:9000');
  for (const wrong of [
    '',
    'id.example',
    'http://id.example',
    'https://a:b@id.example',
    'https://id.example?x=1',
  ]) {
    assert.equal(parseIssuer(wrong), undefined, wrong);
  }
  assert.deepEqual(parseRoleOfClaim('cn=ops=admin'), { value: 'cn=ops', role: 'admin' });
  for (const wrong of ['', 'admin', '=admin', 'ops=', 'ops=root']) {
    assert.equal(parseRoleOfClaim(wrong), undefined, wrong);
  }
});
