// SPDX-License-Identifier: Apache-2.0
import { type Role, roles } from '../../base/contract/roles.js';
import type { Value } from '../../state/database/database.js';
import { foldedName, type User } from './user.js';

export type UserRow = {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly account: string;
  readonly password: string | null;
  readonly oidc_issuer: string | null;
  readonly oidc_subject: string | null;
  readonly created_at_ms: number;
  readonly disabled_at_ms: number | null;
  readonly revision: number;
};

export const userColumns =
  'id, name, role, account, password, oidc_issuer, oidc_subject, created_at_ms, disabled_at_ms';

/** In the order of `userColumns`, and the folded name. */
export const rowOf = (user: User): Value[] => [
  user.id,
  user.name,
  user.role,
  user.account,
  user.password ?? null,
  user.identity?.issuer ?? null,
  user.identity?.subject ?? null,
  user.createdAtMs,
  user.disabledAtMs ?? null,
  foldedName(user.name),
];

export function userOf(row: UserRow): User {
  const { oidc_issuer: issuer, oidc_subject: subject } = row;
  return {
    id: row.id,
    name: row.name,
    role: roles.find((role): role is Role => role === row.role) ?? 'viewer',
    account: row.account,
    ...(row.password !== null && { password: row.password }),
    ...(issuer !== null && subject !== null && { identity: { issuer, subject } }),
    createdAtMs: row.created_at_ms,
    ...(row.disabled_at_ms !== null && { disabledAtMs: row.disabled_at_ms }),
  };
}
