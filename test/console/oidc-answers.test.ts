// SPDX-License-Identifier: Apache-2.0
//
// An OpenID provider cannot fill the memory: of its answers, unpacked, two mebibytes are read at most.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { OidcProvider } from '../../src/console/routes/oidc-provider.js';
import { oidcDescription } from '../support/oidc-provider.js';

const PADDING = ' '.repeat(2 << 20);

/** @param padded the path whose answer unpacks to megabytes */
async function startProvider(t: TestContext, padded: string, isPacked: boolean): Promise<OidcProvider> {
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', origin);
    const text = `${pathname === padded ? PADDING : ''}${JSON.stringify(answers(origin)[pathname] ?? {})}`;
    const body = isPacked ? gzipSync(text) : Buffer.from(text);
    const packed = isPacked ? { 'content-encoding': 'gzip' } : {};
    response.writeHead(200, { 'content-type': 'application/json', ...packed }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new OidcProvider(
    { oidcIssuer: origin, oidcClientId: 'me', oidcClientSecret: '', dashboardOrigin: 'http://127.0.0.1' },
    600,
  );
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function answers(origin: string): Readonly<Record<string, object>> {
  const nowS = Math.floor(Date.now() / 1000);
  const claims = { iss: origin, sub: 's', aud: 'me', nonce: 'n', iat: nowS, exp: nowS + 600 };
  const idToken = `${encoded({ alg: 'RS256', kid: 'one' })}.${encoded(claims)}.${encoded({})}`;
  return {
    '/.well-known/openid-configuration': oidcDescription(origin),
    '/token': { access_token: 'a', token_type: 'bearer', id_token: idToken },
    '/keys': { keys: [] },
  };
}

const signIn = (provider: OidcProvider): Promise<unknown> =>
  provider.finish('code=c&state=s', { state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43) });

for (const padded of Object.keys(answers(''))) {
  for (const isPacked of [true, false]) {
    test(`2 MiB from ${padded}${isPacked ? ', packed' : ''}`, async (t) => {
      const provider = await startProvider(t, padded, isPacked);
      await assert.rejects(signIn(provider), { key: 'OIDC_UNAVAILABLE' });
    });
  }
}

test('without them, the missing key is the problem', async (t) => {
  const provider = await startProvider(t, '', true);
  await assert.rejects(signIn(provider), { key: 'OIDC_REFUSED' });
});
