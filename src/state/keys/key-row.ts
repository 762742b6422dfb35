// SPDX-License-Identifier: Apache-2.0
import { scopes } from '../../base/contract/scopes.js';
import type { Value } from '../database/database.js';
import type { StoredKey } from './api-key.js';

export type KeyRow = {
  readonly id: string;
  readonly name: string;
  readonly account: string;
  /** Names with commas between them. */
  readonly scopes: string;
  readonly rate_requests: number | null;
  readonly rate_window_s: number | null;
  readonly concurrency: number | null;
  readonly secret_sha256: string;
  readonly created_at_ms: number;
  readonly expires_at_ms: number | null;
  readonly revoked_at_ms: number | null;
  readonly ends_with_session: number;
  readonly revision: number;
};

/** In the order of `rowOf`. */
export const columns = [
  'id',
  'name',
  'account',
  'scopes',
  'rate_requests',
  'rate_window_s',
  'concurrency',
  'secret_sha256',
  'created_at_ms',
  'expires_at_ms',
  'revoked_at_ms',
  'ends_with_session',
] as const satisfies readonly (keyof KeyRow)[];

export function rowOf(key: StoredKey): Value[] {
  const { id, name, account, rate, concurrency, secretSha256, createdAt, expiresAt, revokedAt } = key;
  return [
    id,
    name,
    account,
    key.scopes.join(','),
    rate?.requests ?? null,
    rate?.windowS ?? null,
    concurrency ?? null,
    secretSha256,
    createdAt.getTime(),
    expiresAt?.getTime() ?? null,
    revokedAt?.getTime() ?? null,
    key.endsWithSession ? 1 : 0,
  ];
}

export function keyOf(row: KeyRow): StoredKey {
  const { rate_requests: requests, rate_window_s: windowS, concurrency } = row;
  const granted = new Set(row.scopes.split(','));
  return {
    id: row.id,
    name: row.name,
    account: row.account,
    scopes: scopes.filter((scope) => granted.has(scope)),
    ...(requests !== null && windowS !== null && { rate: { requests, windowS } }),
    ...(concurrency !== null && { concurrency }),
    secretSha256: row.secret_sha256,
    createdAt: new Date(row.created_at_ms),
    ...(row.expires_at_ms !== null && { expiresAt: new Date(row.expires_at_ms) }),
    ...(row.revoked_at_ms !== null && { revokedAt: new Date(row.revoked_at_ms) }),
    ...(row.ends_with_session === 1 && { endsWithSession: true }),
  };
}
