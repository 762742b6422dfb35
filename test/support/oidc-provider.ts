// SPDX-License-Identifier: Apache-2.0
import { createHash, randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';

/** As far as a client needs it. */
export const oidcDescription = (issuer: string): object => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  response_types_supported: ['code'],
  id_token_signing_alg_values_supported: ['RS256'],
  code_challenge_methods_supported: ['S256'],
});

/** Identity of the next visitor. */
export interface Answers {
  claims: Record<string, unknown>;
  /** Changes the provider's answers, for attempts at forgery. */
  forge: {
    nonce?: string;
    audience?: string;
    issuer?: string;
    key?: CryptoKey;
    expiresInS?: number;
    issuedInS?: number;
    /** Status of its token endpoint. */
    tokenStatus?: number;
    state?: string;
    error?: string;
  };
  /** Stops answering. */
  isDown: boolean;
}

interface Grant {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

export interface OidcProviderDouble {
  readonly issuer: string;
  readonly answers: Answers;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Requests to its token endpoint. */
  readonly tokenRequests: number;
}

/**
 * A small OpenID provider, written from the standard without our library: codes, PKCE with S256, signed ID
 * tokens.
 */
export async function startOidcProvider(test: TestContext): Promise<OidcProviderDouble> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const grants = new Map<string, Grant>();
  const answers: Answers = { claims: {}, forge: {}, isDown: false };
  const clientId = 'veravox-test';
  const clientSecret = 'a secret & more';
  let tokenRequests = 0;
  const server = http.createServer((request, response) => {
    void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', issuer);
    const json = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (answers.isDown) {
      response.destroy();
      return;
    }
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        json(200, { ...oidcDescription(issuer), subject_types_supported: ['public'] });
        return;
      case '/keys':
        json(200, { keys: [jwk] });
        return;
      case '/authorize':
        authorize(url, response);
        return;
      case '/token':
        await token(request, json);
        return;
      default:
        json(404, {});
    }
  }

  function authorize({ searchParams: asked }: URL, response: http.ServerResponse): void {
    const redirectUri = String(asked.get('redirect_uri'));
    const back = new URL(redirectUri);
    if (
      asked.get('client_id') !== clientId ||
      asked.get('response_type') !== 'code' ||
      asked.get('code_challenge_method') !== 'S256' ||
      !asked.get('scope')?.split(' ').includes('openid')
    ) {
      response.writeHead(400).end();
      return;
    }
    back.searchParams.set('state', answers.forge.state ?? String(asked.get('state')));
    if (answers.forge.error !== undefined) back.searchParams.set('error', answers.forge.error);
    else {
      const code = randomUUID();
      grants.set(code, {
        challenge: String(asked.get('code_challenge')),
        nonce: String(asked.get('nonce')),
        redirectUri,
      });
      back.searchParams.set('code', code);
    }
    response.writeHead(302, { location: back.href }).end();
  }

  async function token(
    request: http.IncomingMessage,
    json: (status: number, body: object) => void,
  ): Promise<void> {
    tokenRequests++;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const basic = Buffer.from(
      String(request.headers.authorization).replace(/^Basic /, ''),
      'base64',
    ).toString();
    const [id = '', secret = ''] = basic
      .split(':')
      .map((part) => decodeURIComponent(part.replaceAll('+', ' ')));
    if (id !== clientId || secret !== clientSecret) {
      json(401, { error: 'invalid_client' });
      return;
    }
    const grant = grants.get(String(form.get('code')));
    grants.delete(String(form.get('code')));
    const challenge = createHash('sha256')
      .update(String(form.get('code_verifier')))
      .digest('base64url');
    if (grant?.challenge !== challenge || grant.redirectUri !== form.get('redirect_uri')) {
      json(400, { error: 'invalid_grant' });
      return;
    }
    const { forge, claims } = answers;
    const idToken = await new SignJWT({ ...claims, nonce: forge.nonce ?? grant.nonce })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setIssuer(forge.issuer ?? issuer)
      .setAudience(forge.audience ?? clientId)
      .setIssuedAt(Math.floor(Date.now() / 1000) + (forge.issuedInS ?? 0))
      .setExpirationTime(Math.floor(Date.now() / 1000) + (forge.expiresInS ?? 300))
      .sign(forge.key ?? privateKey);
    json(forge.tokenStatus ?? 200, { access_token: randomUUID(), token_type: 'Bearer', id_token: idToken });
  }

  return {
    issuer,
    answers,
    clientId,
    clientSecret,
    get tokenRequests() {
      return tokenRequests;
    },
  };
}
