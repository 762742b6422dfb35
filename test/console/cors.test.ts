// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addUser, signIn } from '../support/admin.js';
import { type Answer, request } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { ADMIN_API_KEY, API_KEY } from '../support/test-keys.js';

const page = 'https://app.example';

const corsHeadersOf = ({ headers }: Answer): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

const preflightOf = (method: string) => ({
  origin: page,
  'access-control-request-method': method,
  'access-control-request-headers': 'x-api-key, x-csrf-token, content-type',
});

for (const allowed of ['*', page]) {
  test(`with ${allowed} allowed, no page of another origin may read the admin API`, async (t) => {
    const { port, server, database } = await startJobServer(t, { corsOrigins: [allowed] });
    await addUser(database, 'admin');
    const { cookie } = await signIn(port, 'admin');
    const routes = server.routes.filter(({ path }) => path.startsWith('/v1/admin'));
    assert.ok(routes.length > 20);
    const paths = new Set(routes.map(({ path }) => path.replace(/\{\w+\}/, 'x')));
    for (const path of [...paths, '/v1/admin/nowhere']) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const asked = await request(port, path, { method: 'OPTIONS', headers: preflightOf(method) });
        assert.deepEqual(corsHeadersOf(asked), [], `OPTIONS ${path}`);
      }
      for (const own of [{ cookie }, { 'x-api-key': ADMIN_API_KEY }, {}]) {
        // A watched answer would go on for a minute; its head is enough.
        const answer = await request(port, path, { method: 'HEAD', headers: { origin: page, ...own } });
        assert.deepEqual(corsHeadersOf(answer), [], `HEAD ${path}`);
      }
    }
    const others = await request(port, '/v1/jobs', { headers: { origin: page, 'x-api-key': API_KEY } });
    assert.equal(others.headers['access-control-allow-origin'], allowed);
  });
}
