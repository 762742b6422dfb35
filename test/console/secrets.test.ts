// SPDX-License-Identifier: Apache-2.0
//
// Passwords, links, keys and cookies appear only where they are made or sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOf } from '../../src/console/users/secret-token.js';
import { UserTable } from '../../src/console/users/user-table.js';
import { addUser, PASSWORD, postSession, signIn } from '../support/admin.js';
import { type Answer, request } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { ADMIN_API_KEY } from '../support/test-keys.js';

const tokenOf = (cookie: string): string => cookie.split('=')[1] ?? '';

test('no further answer, line of the log or audit entry of the admin API has a secret', async (t) => {
  const server = await startJobServer(t);
  const { port, database, acts, log } = server;
  const admin = await addUser(database, 'admin');
  const browser = await signIn(port, 'admin');
  const key = (await browser.call('POST', '/v1/admin/keys', { name: 'a key', scopes: ['predict'] })).json.key;
  const playground = (await browser.call('POST', '/v1/admin/playground-key')).json.key;
  const invited = await browser.call('POST', '/v1/admin/users', { name: 'lin', role: 'viewer' });
  const { token } = invited.json.link;
  const lin = await signIn(port, { token, password: PASSWORD });
  const next = (await browser.call('POST', `/v1/admin/users/${invited.json.user.id}/link`)).json.token;
  const secrets = {
    password: PASSWORD,
    hash: (await new UserTable(database).find(admin.id))?.password,
    cookie: tokenOf(browser.cookie),
    'stored session': digestOf(tokenOf(browser.cookie)),
    'other cookie': tokenOf(lin.cookie),
    'used link': token,
    link: next,
    'stored link': digestOf(next),
    key: key.split('_').slice(2).join('_'),
    'key of the playground': playground.split('_').slice(2).join('_'),
    'own key': ADMIN_API_KEY,
  };
  const answers: Answer[] = [];
  const routes = server.server.routes.filter(
    ({ path, method, isWatch }) => path.startsWith('/v1/admin') && method === 'GET' && !isWatch,
  );
  assert.ok(routes.length > 10);
  for (const { path } of routes) {
    const at = `${path.replace(/\{\w+\}/, 'x')}${path.endsWith('/') ? 'x' : ''}`;
    answers.push(await browser.call('GET', at));
    answers.push(await request(port, at, { headers: { 'x-api-key': ADMIN_API_KEY } }));
  }
  // Refused values are not repeated either.
  const passwords = { password: PASSWORD, new_password: PASSWORD.slice(0, 11) };
  answers.push(await browser.call('POST', '/v1/admin/password', passwords));
  answers.push(await browser.call('POST', '/v1/admin/password', { ...passwords, password: [PASSWORD] }));
  answers.push(await postSession(port, { token: `${next}x`, password: PASSWORD }));
  answers.push(await postSession(port, { token, password: PASSWORD }));
  answers.push(await postSession(port, { name: 'admin', password: `${PASSWORD} ${'x'.repeat(1024)}` }));
  answers.push(await browser.call('POST', '/v1/admin/password', passwords, { 'x-csrf-token': 'wrong' }));
  answers.push(await request(port, '/v1/admin/keys', { headers: { 'x-api-key': `${ADMIN_API_KEY}x` } }));
  assert.ok(log.length > 20);
  const texts = [
    ...answers.map(({ headers, text }) => JSON.stringify(headers) + text),
    ...[...acts, ...log].map((line) => JSON.stringify(line)),
  ];
  for (const [what, secret] of Object.entries(secrets)) {
    assert.ok(secret !== undefined && secret.length > 8, what);
    for (const text of texts) assert.ok(!text.includes(secret), `${what}: ${text.slice(0, 500)}`);
  }
  for (const text of texts) assert.ok(!text.includes(passwords.new_password), text.slice(0, 500));
});
