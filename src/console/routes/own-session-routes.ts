// SPDX-License-Identifier: Apache-2.0
import { jsonReply, type Reply, type Route, type RouteRequest } from '../../api/routes/route.js';
import { ServiceError } from '../../base/errors/service-error.js';
import {
  type OwnSession,
  type OwnSessionList,
  otherSessionsEnd,
  ownSessionEnd,
  ownSessionListing,
} from '../contract/own-sessions.js';
import type { AdminSessionsEnded } from '../contract/user.js';
import { publicIdOf } from '../users/secret-token.js';
import { type ListedSession, SessionTable } from '../users/session-table.js';
import { parameterIn } from './admin-fields.js';
import type { AdminGuard } from './admin-guard.js';
import type { AdminParts } from './admin-parts.js';
import { adminRoute } from './admin-route.js';
import { actedBy, type Principal } from './principal.js';
import { signedInOf } from './session-routes.js';

/** `/v1/admin/sessions`: everybody's own. */
export function ownSessionRoutes(parts: AdminParts, guard: AdminGuard): Route[] {
  const sessionTable = new SessionTable(parts.database);

  async function list(principal: Principal): Promise<Reply> {
    const { session, user } = signedInOf(principal);
    const sessions = await sessionTable.list(user.id);
    return jsonReply<OwnSessionList>(200, { sessions: sessions.map((one) => bodyOf(one, session.id)) });
  }

  async function endOne(principal: Principal, request: RouteRequest): Promise<Reply> {
    const { user } = signedInOf(principal);
    const publicId = parameterIn(request, ownSessionEnd);
    if (!(await sessionTable.endOneOf(user.id, publicId, noted(principal, user.id))))
      throw new ServiceError('SESSION_NOT_FOUND');
    return jsonReply<AdminSessionsEnded>(200, { sessions: 1 });
  }

  async function endOthers(principal: Principal): Promise<Reply> {
    const { session, user } = signedInOf(principal);
    const ended = await sessionTable.endAllOf(user.id, noted(principal, user.id), session.id);
    return jsonReply<AdminSessionsEnded>(200, { sessions: ended });
  }

  const noted = (principal: Principal, userId: string) => (): Promise<void> =>
    parts.noteFirst({ event: 'sessions_revoked', userId, ...actedBy(principal) });

  return [
    adminRoute(guard, ownSessionListing, list),
    adminRoute(guard, ownSessionEnd, endOne),
    adminRoute(guard, otherSessionsEnd, endOthers),
  ];
}

const bodyOf = (session: ListedSession, currentId: string): OwnSession => ({
  id: publicIdOf(session.id),
  is_current: session.id === currentId,
  created_at: new Date(session.createdAtMs).toISOString(),
  last_used_at: new Date(session.usedAtMs).toISOString(),
  expires_at: new Date(session.endsAtMs).toISOString(),
  client_address: session.clientAddress ?? null,
  user_agent: session.userAgent ?? null,
});
