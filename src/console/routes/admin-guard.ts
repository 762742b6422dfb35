// SPDX-License-Identifier: Apache-2.0
import { type RateCounter, rateRefusal } from '../../api/admission/rate-limits.js';
import type { RouteRequest } from '../../api/routes/route.js';
import type { Config } from '../../base/config/options.js';
import type { AdminEndpoint } from '../../base/contract/endpoint.js';
import { isAtLeast } from '../../base/contract/roles.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { allows } from '../../state/keys/api-key.js';
import type { AuthenticatedKey, Authenticator } from '../../state/keys/authenticator.js';
import type { SessionCache, SignedIn } from '../users/session-cache.js';
import { cookieIn, isSecure } from './cookies.js';
import { refuseForeignPages, refuseWithoutToken } from './foreign-pages.js';
import { type Principal, principalOf } from './principal.js';

export interface AdminGuardParts {
  readonly config: Pick<Config, 'tlsCertFile' | 'dashboardOrigin'>;
  readonly keys: Authenticator;
  readonly rates: RateCounter;
  readonly sessions: Pick<SessionCache, 'find' | 'isStillLive'>;
}

/** Identifies the sender of a request, and checks its rights. */
export class AdminGuard {
  readonly #parts: AdminGuardParts;

  constructor(parts: AdminGuardParts) {
    this.#parts = parts;
  }

  /** At once if no look-up is needed. @throws ServiceError */
  admit(endpoint: AdminEndpoint, request: RouteRequest): Principal | Promise<Principal> {
    const admitted = this.#identify(request);
    if (admitted instanceof Promise) return admitted.then((principal) => withRole(principal, endpoint));
    return withRole(admitted, endpoint);
  }

  /** Whether an admitted user is still signed in, and an admitted key still one of an administrator. */
  async isStillIn({ id, signedIn }: Principal): Promise<boolean> {
    const { keys, sessions } = this.#parts;
    if (signedIn !== undefined) return sessions.isStillLive(signedIn.session.id);
    const key = keys.find(id);
    return key !== undefined && allows(key.scopes, 'admin');
  }

  #identify(request: RouteRequest): Principal | Promise<Principal> {
    const presented = request.headers.get('x-api-key') ?? '';
    return presented === '' ? this.#ofSession(request) : this.#ofKey(presented, request);
  }

  #ofSession(request: RouteRequest): Principal | Promise<Principal> {
    const { config, sessions } = this.#parts;
    const token = cookieIn(request.headers, 'session', isSecure(request, config.tlsCertFile !== ''));
    if (token === '') throw new ServiceError('SIGN_IN_REQUIRED');
    if (isChange(request)) refuseForeignPages(request.headers, config.dashboardOrigin);
    const found = sessions.find(token);
    return found instanceof Promise
      ? found.then((signedIn) => entered(signedIn, request))
      : entered(found, request);
  }

  #ofKey(presented: string, request: RouteRequest): Principal | Promise<Principal> {
    const { keys } = this.#parts;
    const known = keys.authenticate(presented);
    const looking = known === undefined ? keys.lookUp(presented) : undefined;
    return looking === undefined
      ? this.#counted(known, request)
      : looking.then((found) => this.#counted(found, request));
  }

  #counted(key: AuthenticatedKey | undefined, request: RouteRequest): Principal | Promise<Principal> {
    if (key === undefined) throw new ServiceError('UNAUTHORIZED');
    request.record.keyId = key.id;
    request.record.account = key.account;
    const counting = this.#parts.rates.count(key);
    if (counting === undefined) return principalOfKey(key);
    return counting.then((rate) => {
      request.rate = rate;
      if (rate.isExceeded) throw rateRefusal(rate);
      return principalOfKey(key);
    });
  }
}

const isChange = ({ method }: RouteRequest): boolean => method !== 'GET' && method !== 'HEAD';

function entered(signedIn: SignedIn | undefined, request: RouteRequest): Principal {
  if (signedIn === undefined) throw new ServiceError('SIGN_IN_REQUIRED');
  if (isChange(request)) refuseWithoutToken(request.headers, signedIn.csrfToken);
  request.record.userId = signedIn.user.id;
  return principalOf(signedIn);
}

function principalOfKey({ id, scopes }: AuthenticatedKey): Principal {
  const scope = 'admin';
  if (!allows(scopes, scope)) throw new ServiceError('FORBIDDEN', { scope });
  return { kind: 'key', id, name: id, role: 'admin', account: undefined };
}

function withRole(principal: Principal, { role }: AdminEndpoint): Principal {
  if (isAtLeast(principal.role, role)) return principal;
  throw new ServiceError('ROLE_INSUFFICIENT', { role, own: principal.role });
}
