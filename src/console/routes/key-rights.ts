// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { NewKey, RateLimit, StoredKey } from '../../state/keys/api-key.js';
import type { KeyTable } from '../../state/keys/key-table.js';
import { seesAccount } from './accounts.js';
import type { Principal } from './principal.js';

/** Of one account, except for keys of sessions. */
const MAX_KEYS = 10_000;

/** The limits of keys that have none of their own. */
export type ServerLimits = Pick<Config, 'rateLimitRequests' | 'rateLimitWindowS' | 'keyConcurrency'>;

type Wanted = {
  readonly [Field in 'account' | 'scopes' | 'rate' | 'concurrency']?: NewKey[Field] | undefined;
};

/** @throws ServiceError KEY_NOT_ALLOWED for a key that this principal may not make, or change into this */
export function refuseBeyondRole(principal: Principal, wanted: Wanted, limits: ServerLimits): void {
  const { account, scopes = [], rate, concurrency } = wanted;
  if (account !== undefined && !seesAccount(principal, account)) refuse('make keys of other accounts');
  if (principal.role === 'admin') return;
  if (scopes.includes('admin')) refuse('give the scope admin');
  if (isRateBeyond(rate, limits) || isConcurrencyBeyond(concurrency, limits)) {
    refuse('give limits beyond those of the server');
  }
}

/** Keys stay in the database and in the memory of every server, ended ones included. @throws ServiceError KEY_NOT_ALLOWED */
export async function refuseBeyondNumber(
  { role }: Principal,
  account: string,
  keys: Pick<KeyTable, 'countOf'>,
): Promise<void> {
  if (role === 'admin' || (await keys.countOf(account)) < MAX_KEYS) return;
  refuse(`make more than ${MAX_KEYS} keys of an account, including ended ones`);
}

/** @throws ServiceError KEY_NOT_FOUND, KEY_NOT_ALLOWED for a key that this principal may not change or revoke */
export function refuseForeign(principal: Principal, key: StoredKey | undefined): asserts key is StoredKey {
  if (key === undefined || !seesAccount(principal, key.account)) throw new ServiceError('KEY_NOT_FOUND');
  if (principal.role !== 'admin' && key.scopes.includes('admin')) refuse('change keys with the scope admin');
}

function refuse(what: string): never {
  throw new ServiceError('KEY_NOT_ALLOWED', { what });
}

/** Neither at once nor in the long run may it let more through. */
function isRateBeyond(rate: RateLimit | undefined, limits: ServerLimits): boolean {
  const { rateLimitRequests: most, rateLimitWindowS: windowS } = limits;
  if (rate === undefined || most === 0) return false;
  return rate.requests === 0 || rate.requests > most || rate.requests * windowS > most * rate.windowS;
}

function isConcurrencyBeyond(
  concurrency: number | undefined,
  { keyConcurrency: most }: ServerLimits,
): boolean {
  if (concurrency === undefined || most === 0) return false;
  return concurrency === 0 || concurrency > most;
}
