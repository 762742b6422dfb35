// SPDX-License-Identifier: Apache-2.0
//
// Covers all routes of a server, including new ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAtLeast, type Role, roles } from '../../src/base/contract/roles.js';
import { addUser, type Browser, signIn } from '../support/admin.js';
import { request } from '../support/http-client.js';
import { type JobServer, startJobServer } from '../support/job-server.js';
import { ADMIN_API_KEY, API_KEY } from '../support/test-keys.js';

/** Routes without a role, because people have not signed in yet. */
const open = [
  'GET /v1/admin/sign-in',
  'POST /v1/admin/session',
  'GET /v1/admin/oidc/start',
  'GET /v1/admin/oidc/callback',
];

interface AdminRoute {
  readonly method: string;
  readonly path: string;
  readonly role: Role;
}

function routesOf({ server }: JobServer): AdminRoute[] {
  const ofAdmin = server.routes.filter(({ path }) => path.startsWith('/v1/admin'));
  for (const { method, path, role, scope, isForOperators, takesPermit } of ofAdmin) {
    const name = `${method} ${path}`;
    assert.equal(scope, undefined, name);
    assert.ok(isForOperators && takesPermit, name);
    assert.equal(role === undefined, open.includes(name), name);
  }
  return ofAdmin.flatMap(({ method, path, role, isWatch }) =>
    // A watched answer would go on for a minute; its head is enough.
    role === undefined ? [] : [{ method: isWatch ? 'HEAD' : method, path: addressOf(path), role }],
  );
}

const addressOf = (path: string): string => `${path.replace(/\{\w+\}/, 'x')}${path.endsWith('/') ? 'x' : ''}`;

/** The order of requests in a session: requests that end it come last. */
const last = ({ method, path }: AdminRoute): boolean => method === 'DELETE' && path === '/v1/admin/session';

test('without a session or a key, every route of the admin API is 401', async (t) => {
  const server = await startJobServer(t);
  const routes = routesOf(server);
  assert.ok(routes.length >= 9);
  for (const { method, path } of routes) {
    for (const cookie of [
      '',
      'veravox=',
      `veravox=${'A'.repeat(43)}`,
      'veravox=../../x',
      `other=1; veravox=\u00fc`,
    ]) {
      const headers = { ...(cookie !== '' && { cookie }), 'content-type': 'application/json' };
      const answer = await request(server.port, path, { method, headers });
      assert.deepEqual(
        [answer.status, answer.headers['x-error-key']],
        [401, 'SIGN_IN_REQUIRED'],
        `${method} ${path} ${cookie}`,
      );
    }
    const ofClient = await request(server.port, path, { method, headers: { 'x-api-key': API_KEY } });
    assert.equal(ofClient.headers['x-error-key'], 'FORBIDDEN', `${method} ${path}`);
  }
});

for (const own of roles) {
  test(`every route of the admin API lets in ${own} or refuses them, as its role says`, async (t) => {
    const server = await startJobServer(t);
    await addUser(server.database, 'admin', 'somebody else');
    await addUser(server.database, own);
    const browser = await signIn(server.port, own);
    const routes = routesOf(server);
    for (const route of [...routes.filter((one) => !last(one)), ...routes.filter(last)]) {
      await expectRole(route, own, browser);
    }
  });
}

async function expectRole({ method, path, role }: AdminRoute, own: Role, browser: Browser): Promise<void> {
  const { status, headers } = await browser.call(method, path);
  const name = `${method} ${path} as ${own}: ${status} ${headers['x-error-key']}`;
  if (!isAtLeast(own, role)) {
    assert.equal(status, 403, name);
    assert.equal(headers['x-error-key'], 'ROLE_INSUFFICIENT', name);
    return;
  }
  assert.ok(![401, 403, 405, 500].includes(status), name);
}

test('a key with the scope admin may use every route that needs no session', async (t) => {
  const server = await startJobServer(t);
  for (const { method, path } of routesOf(server)) {
    const headers = { 'x-api-key': ADMIN_API_KEY };
    const answer = await request(server.port, path, { method, headers });
    const key = String(answer.headers['x-error-key']);
    assert.ok(
      answer.status < 401 || key === 'SESSION_REQUIRED' || answer.status > 403,
      `${method} ${path} ${key}`,
    );
  }
});
