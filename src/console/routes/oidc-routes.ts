// SPDX-License-Identifier: Apache-2.0
import type { Reply, Route, RouteRequest } from '../../api/routes/route.js';
import type { Endpoint } from '../../base/contract/endpoint.js';
import { notFound } from '../../base/errors/not-found.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { isToken } from '../users/secret-token.js';
import type { AdminParts } from './admin-parts.js';
import { openAdminRoute } from './admin-route.js';
import { cookieIn, isSecure, setCookie } from './cookies.js';
import { personOf } from './oidc-person.js';
import { OIDC_CALLBACK, OidcProvider, type OidcSecrets } from './oidc-provider.js';
import { sessionCookie, visitorOf } from './session-routes.js';

/** For signing in at the provider. */
const AWAY_S = 600;

const answers = { 302: { description: 'Leads to the provider, or to the dashboard.' } } as const;

/** Browsers are led there; programs do not call them by a name. */
const start: Endpoint = {
  method: 'GET',
  path: '/v1/admin/oidc/start',
  takesPermit: true,
  operation: {
    id: 'startOidc',
    tag: 'Admin',
    summary: 'Leads to the OpenID provider.',
    answers,
    errors: ['NOT_FOUND', 'OIDC_UNAVAILABLE', 'SIGN_IN_LIMITED'],
  },
};

const callback: Endpoint = {
  method: 'GET',
  path: OIDC_CALLBACK,
  takesPermit: true,
  operation: {
    id: 'finishOidc',
    tag: 'Admin',
    summary: 'Where the OpenID provider leads back to.',
    answers,
    errors: [
      'NOT_FOUND',
      'OIDC_UNAVAILABLE',
      'OIDC_REFUSED',
      'OIDC_ROLE_MISSING',
      'SIGN_IN_LIMITED',
      'SIGN_IN_REFUSED',
      'DATABASE_UNAVAILABLE',
    ],
  },
};

/** `/v1/admin/oidc/...`. */
export function oidcRoutes({ config, signIns, log }: AdminParts): Route[] {
  const provider = new OidcProvider(config);
  const secure = (request: RouteRequest): boolean => isSecure(request, config.tlsCertFile !== '');

  async function begin(request: RouteRequest): Promise<Reply> {
    if (!provider.isConfigured) throw notFound(request.path);
    signIns.refuseFloods(request.clientAddress);
    const { url, secrets } = await provider.begin();
    return to(url, [setCookie('oidc', secure(request), textOf(secrets), AWAY_S)]);
  }

  async function finish(request: RouteRequest): Promise<Reply> {
    if (!provider.isConfigured) throw notFound(request.path);
    signIns.refuseFloods(request.clientAddress);
    const secrets = secretsIn(cookieIn(request.headers, 'oidc', secure(request)));
    const claims = await provider.finish(request.query, secrets).catch((error: ServiceError) => {
      const { correlationId } = request.record;
      // The line of a request has the causes of failures only.
      if (error.status < 500) log.warn({ correlationId, err: error.cause }, 'an OpenID sign-in was refused');
      throw error;
    });
    const person = personOf(claims, config.oidcRoleClaim, config.oidcRoles);
    const { token } = await signIns.withProvider(person, visitorOf(request, secure(request)));
    return to('../../../dashboard/', [
      sessionCookie(token, secure(request)),
      setCookie('oidc', secure(request), '', 0),
    ]);
  }

  return [
    { ...openAdminRoute(start, begin), refusal: toSignIn },
    { ...openAdminRoute(callback, finish), refusal: toSignIn },
  ];
}

const to = (location: string, headers: Reply['headers'] = []): Reply => ({
  status: 302,
  contentType: '',
  body: '',
  headers: [['location', location], ['referrer-policy', 'no-referrer'], ...headers],
});

/** People see the refusal there, by its name in the catalogue. */
const toSignIn = ({ key, status }: ServiceError): Reply | undefined =>
  status === 404 ? undefined : { ...to(`../../../dashboard/#/sign-in?error=${key}`), recordedStatus: status };

const textOf = ({ state, nonce, codeVerifier }: OidcSecrets): string => `${state}.${nonce}.${codeVerifier}`;

/** @throws ServiceError OIDC_REFUSED if this browser was not sent away, or too long ago */
function secretsIn(cookie: string): OidcSecrets {
  const [state = '', nonce = '', codeVerifier = '', ...rest] = cookie.split('.');
  if (rest.length > 0 || ![state, nonce, codeVerifier].every(isToken)) throw new ServiceError('OIDC_REFUSED');
  return { state, nonce, codeVerifier };
}
