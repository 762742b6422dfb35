// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdminClient } from '../../client/src/index.js';
import { request } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { keysOf, withKey } from '../support/keys.js';
import { ADMIN_API_KEY, API_KEY, KEY_WITHOUT_SCOPE } from '../support/test-keys.js';

const path = '/v1/admin/session';

test('a key with the scope admin is an administrator of all accounts; others are refused', async (t) => {
  const { port, origin } = await startJobServer(t);
  const ofKey = await request(port, path, { headers: { 'x-api-key': ADMIN_API_KEY } });
  assert.equal(ofKey.status, 200);
  assert.deepEqual(ofKey.json, {
    kind: 'key',
    id: 'key-4',
    name: 'key-4',
    role: 'admin',
    account: null,
    csrf_token: '',
    expires_at: null,
  });
  assert.deepEqual(
    await new AdminClient({ baseUrl: origin, apiKey: ADMIN_API_KEY }).getSession(),
    ofKey.json,
  );
  for (const key of [API_KEY, KEY_WITHOUT_SCOPE]) {
    const { status, headers } = await request(port, path, { headers: { 'x-api-key': key } });
    assert.deepEqual([status, headers['x-error-key']], [403, 'FORBIDDEN']);
  }
  const unknown = await request(port, path, { headers: { 'x-api-key': 'wrong' } });
  assert.deepEqual([unknown.status, unknown.headers['x-error-key']], [401, 'UNAUTHORIZED']);
  const nobody = await request(port, path);
  assert.deepEqual([nobody.status, nobody.headers['x-error-key']], [401, 'SIGN_IN_REQUIRED']);
  assert.match(nobody.text, /Sign in first/);
});

test("a key's rate counts for the admin API, too", async (t) => {
  const keys = keysOf({ id: 'slow', scopes: new Set(['admin']), rate: { requests: 2, windowS: 600 } });
  const { port } = await startJobServer(t, {}, { keys });
  const ask = () => request(port, path, { headers: withKey('slow') });
  for (const [wanted, left] of [
    [200, '1'],
    [200, '0'],
    [429, '0'],
  ]) {
    const { status, headers } = await ask();
    assert.deepEqual(
      [status, headers['ratelimit-limit'], headers['ratelimit-remaining']],
      [wanted, '2', left],
    );
  }
  const { headers } = await ask();
  assert.ok(Number(headers['retry-after']) > 0);
});

test('the admin API is on the admin address only, if there is one, and nowhere without a dashboard', async (t) => {
  const adminAddress = { host: '127.0.0.1', port: 0 };
  const headers = { 'x-api-key': ADMIN_API_KEY };
  const { server, port } = await startJobServer(t, { adminAddress });
  assert.equal((await request(port, path, { headers })).status, 404);
  assert.equal((await request(server.adminPort ?? 0, path, { headers })).status, 200);
  const without = await startJobServer(t, {}, { console: undefined });
  assert.equal((await request(without.port, path, { headers })).status, 404);
  assert.ok(!(await request(without.port, '/openapi.json')).text.includes('/v1/admin'));
});
