// SPDX-License-Identifier: Apache-2.0
import { FieldValidator } from '../../api/routes/form-fields.js';
import { jsonReply, type Reply, type Route, type RouteRequest } from '../../api/routes/route.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { removeInvisible } from '../../base/errors/visible-text.js';
import type { AdminSession, SignInWays } from '../contract/session.js';
import {
  passwordChange,
  sessionEnd,
  sessionLookup,
  signIn,
  signInWays,
} from '../contract/session-endpoints.js';
import type { AdminSessionsEnded } from '../contract/user.js';
import {
  type LinkFields,
  linkSchemas,
  type PasswordFields,
  type SignInFields,
} from '../contract/user-fields.js';
import { csrfTokenOf, digestOf, isToken } from '../users/secret-token.js';
import type { NewSession } from '../users/session.js';
import { LIFETIME_MS } from '../users/session.js';
import type { SignedIn } from '../users/session-cache.js';
import { SessionTable } from '../users/session-table.js';
import { jsonFields } from './admin-fields.js';
import type { AdminGuard } from './admin-guard.js';
import type { AdminParts } from './admin-parts.js';
import { adminRoute, openAdminRoute } from './admin-route.js';
import { cookieIn, isSecure, setCookie } from './cookies.js';
import { refuseForeignPages } from './foreign-pages.js';
import { type Principal, principalOf } from './principal.js';
import type { Visitor } from './sign-ins.js';

/** User agents of browsers are about half as long. */
const MAX_USER_AGENT_CHARS = 200;

/** `/v1/admin/session` and its relatives. */
export function sessionRoutes(parts: AdminParts, guard: AdminGuard): Route[] {
  const { config, signIns, sessions, note } = parts;
  const sessionTable = new SessionTable(parts.database);
  const readSignIn = jsonFields<SignInFields>(signIn, config.receiveTimeoutMs);
  const readPasswords = jsonFields<PasswordFields>(passwordChange, config.receiveTimeoutMs);
  const linkFields = new FieldValidator<LinkFields>({ schemas: linkSchemas, required: ['password'] });
  const isSecured = (request: RouteRequest): boolean => isSecure(request, config.tlsCertFile !== '');
  const ways = { password: true, oidc: config.oidcIssuer !== undefined };

  async function begin(request: RouteRequest): Promise<Reply> {
    refuseForeignPages(request.headers, config.dashboardOrigin);
    const visitor = visitorOf(request, isSecured(request));
    const { name, password, token } = await readSignIn(request);
    let begun: NewSession;
    if (token === undefined) {
      begun = await signIns.withPassword(name ?? '', password, visitor);
    } else {
      await signIns.checkLink(token, visitor);
      linkFields.fromJson({ name, password });
      begun = await signIns.withLink(token, password, name, visitor);
    }
    // It has begun, even if the database is silent now. The user's next requests find it at once if it answers.
    await sessions.findNew(begun.token).catch(() => undefined);
    return begunReply(begun, isSecured(request));
  }

  async function end(principal: Principal, request: RouteRequest): Promise<Reply> {
    const { session, user } = signedInOf(principal);
    const hasEnded = await sessionTable.end(session.id);
    note({ event: 'signed_out', userId: user.id });
    return {
      ...jsonReply<AdminSessionsEnded>(200, { sessions: hasEnded ? 1 : 0 }),
      headers: [setCookie('session', isSecured(request), '', 0)],
    };
  }

  async function change(principal: Principal, request: RouteRequest): Promise<Reply> {
    const { session, user } = signedInOf(principal);
    const { password, new_password: newPassword } = await readPasswords(request);
    const visitor = visitorOf(request, isSecured(request));
    const ended = await signIns.changePassword(user, session.id, { password, newPassword }, visitor);
    return jsonReply<AdminSessionsEnded>(200, { sessions: ended });
  }

  return [
    openAdminRoute(signInWays, () => jsonReply<SignInWays>(200, ways)),
    openAdminRoute(signIn, begin),
    adminRoute(guard, sessionLookup, (principal) => jsonReply<AdminSession>(200, sessionBody(principal))),
    adminRoute(guard, sessionEnd, end),
    adminRoute(guard, passwordChange, change),
  ];
}

export function visitorOf({ headers, clientAddress }: RouteRequest, secure: boolean): Visitor {
  const earlier = cookieIn(headers, 'session', secure);
  const userAgent = removeInvisible(headers.get('user-agent') ?? '').slice(0, MAX_USER_AGENT_CHARS);
  return {
    clientAddress,
    userAgent: userAgent === '' ? undefined : userAgent,
    earlierId: isToken(earlier) ? digestOf(earlier) : undefined,
  };
}

/** Tells the page its user, and gives the browser the cookie. */
const begunReply = ({ session, user, token }: NewSession, secure: boolean): Reply => ({
  ...jsonReply<AdminSession>(200, sessionBody(principalOf({ session, user, csrfToken: csrfTokenOf(token) }))),
  headers: [sessionCookie(token, secure)],
});

export const sessionCookie = (token: string, secure: boolean): readonly [string, string] =>
  setCookie('session', secure, token, LIFETIME_MS / 1000);

/** @throws ServiceError SESSION_REQUIRED for keys */
export function signedInOf({ signedIn }: Principal): SignedIn {
  if (signedIn === undefined) throw new ServiceError('SESSION_REQUIRED');
  return signedIn;
}

const sessionBody = ({ kind, id, name, role, account, signedIn }: Principal): AdminSession => ({
  ...{ kind, id, name, role },
  account: account ?? null,
  csrf_token: signedIn?.csrfToken ?? '',
  expires_at: signedIn === undefined ? null : new Date(signedIn.session.endsAtMs).toISOString(),
});
