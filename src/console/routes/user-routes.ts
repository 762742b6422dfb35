// SPDX-License-Identifier: Apache-2.0
import { jsonReply, type Reply, type Route, type RouteRequest } from '../../api/routes/route.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type {
  AdminInvitation,
  AdminLink,
  AdminSessionsEnded,
  AdminUser,
  AdminUserList,
} from '../contract/user.js';
import {
  userChange,
  userCreation,
  userLink,
  userListing,
  userSessionsEnd,
} from '../contract/user-endpoints.js';
import type { NewUserFields, UserChangeFields } from '../contract/user-fields.js';
import { LINK_LIFETIME_MS } from '../users/link-changes.js';
import { LinkTable, linkPath } from '../users/link-table.js';
import { SessionTable } from '../users/session-table.js';
import { LastAdmin, type User, UserExists } from '../users/user.js';
import { UserTable } from '../users/user-table.js';
import { jsonFields, parameterIn } from './admin-fields.js';
import type { AdminGuard } from './admin-guard.js';
import type { AdminParts } from './admin-parts.js';
import { adminRoute } from './admin-route.js';
import { actedBy, type Principal } from './principal.js';

/** `/v1/admin/users`. */
export function userRoutes(parts: AdminParts, guard: AdminGuard): Route[] {
  const { config, database } = parts;
  const users = new UserTable(database);
  const links = new LinkTable(database);
  const sessions = new SessionTable(database);
  const readNewUser = jsonFields<NewUserFields>(userCreation, config.receiveTimeoutMs);
  const readChanges = jsonFields<UserChangeFields>(userChange, config.receiveTimeoutMs);

  async function list(): Promise<Reply> {
    return jsonReply<AdminUserList>(200, { users: (await users.list()).map(bodyOf) });
  }

  async function create(principal: Principal, request: RouteRequest): Promise<Reply> {
    const { name, role, account } = await readNewUser(request);
    const { user, token } = await told(() =>
      links.invite({ name, role, account }, ({ id: userId }) =>
        parts.noteFirst({ event: 'user_created', userId, role, account, ...actedBy(principal) }),
      ),
    );
    return jsonReply<AdminInvitation>(201, { user: bodyOf(user), link: linkOf(token, user.name) });
  }

  async function change(principal: Principal, request: RouteRequest): Promise<Reply> {
    const { disabled, ...changes } = await readChanges(request);
    const id = parameterIn(request, userChange);
    const given = { ...changes, ...(disabled !== undefined && { isDisabled: disabled }) };
    const act = { event: 'user_changed', userId: id, ...changes, disabled, ...actedBy(principal) };
    const user = found(await told(() => users.change(id, given, { before: () => parts.noteFirst(act) })));
    return jsonReply<AdminUser>(200, bodyOf(user));
  }

  async function createLink(principal: Principal, request: RouteRequest): Promise<Reply> {
    const { id, name } = found(await users.find(parameterIn(request, userLink)));
    const act = { event: 'user_link_created', userId: id, ...actedBy(principal) };
    const token = await links.createFor(id, () => parts.noteFirst(act));
    return jsonReply<AdminLink>(201, linkOf(token, name));
  }

  async function endSessions(principal: Principal, request: RouteRequest): Promise<Reply> {
    const { id } = found(await users.find(parameterIn(request, userSessionsEnd)));
    const act = { event: 'sessions_revoked', userId: id, ...actedBy(principal) };
    const ended = await sessions.endAllOf(id, () => parts.noteFirst(act));
    return jsonReply<AdminSessionsEnded>(200, { sessions: ended });
  }

  return [
    adminRoute(guard, userListing, list),
    adminRoute(guard, userCreation, create),
    adminRoute(guard, userChange, change),
    adminRoute(guard, userLink, createLink),
    adminRoute(guard, userSessionsEnd, endSessions),
  ];
}

function found(user: User | undefined): User {
  if (user === undefined) throw new ServiceError('USER_NOT_FOUND');
  return user;
}

/** @throws ServiceError for faults of the client */
async function told<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UserExists) throw new ServiceError('USER_EXISTS');
    if (error instanceof LastAdmin) throw new ServiceError('LAST_ADMIN');
    throw error;
  }
}

const linkOf = (token: string, userName: string): AdminLink => ({
  token,
  path: linkPath(token, userName),
  expires_at: new Date(Date.now() + LINK_LIFETIME_MS).toISOString(),
});

const bodyOf = (user: User): AdminUser => ({
  id: user.id,
  name: user.name,
  role: user.role,
  account: user.account,
  has_password: user.password !== undefined,
  issuer: user.identity?.issuer ?? null,
  created_at: new Date(user.createdAtMs).toISOString(),
  disabled_at: user.disabledAtMs === undefined ? null : new Date(user.disabledAtMs).toISOString(),
});
