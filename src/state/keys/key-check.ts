// SPDX-License-Identifier: Apache-2.0
import {
  ACCOUNT_EXPECTED,
  MAX_KEY_CONCURRENCY,
  MAX_RATE_REQUESTS,
  MAX_RATE_WINDOW_S,
} from '../../base/contract/key-limits.js';
import { isName, MAX_NAME_CHARS, nameSchema } from '../../base/contract/names.js';
import { escapeInvisible } from '../../base/errors/visible-text.js';
import { isAccount, type NewKey } from './api-key.js';

/** A key cannot be made as it was wanted. Its members are clauses of an error message. */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused';
  readonly field: 'name' | 'account' | 'scopes' | 'rate' | 'concurrency' | 'expires_at';
  readonly expected: string;
  readonly received: string;

  constructor(field: KeyRefused['field'], expected: string, received: string) {
    super(`Expected ${expected} for ${field} but received ${received}.`);
    this.field = field;
    this.expected = expected;
    this.received = received;
  }
}

type Wanted = { readonly [Field in keyof NewKey]?: NewKey[Field] | undefined };

/** Longer periods exceed the range of dates, or mean no expiry at all. */
export const MAX_EXPIRES_IN_S = 100 * 365 * 86_400;

const isWhole = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most;

/**
 * The rules for every new or changed key, whatever its origin.
 * @param wanted absent fields are not checked
 * @throws KeyRefused for the first that it breaks
 */
export function checkKey(
  { name, account, scopes, rate, concurrency, expiresAt }: Wanted,
  now = new Date(),
): void {
  if (name !== undefined && !isName(name)) {
    const received = escapeInvisible(JSON.stringify(name.slice(0, MAX_NAME_CHARS)));
    throw new KeyRefused('name', nameSchema.expected, received);
  }
  if (account !== undefined && !isAccount(account)) {
    throw new KeyRefused('account', ACCOUNT_EXPECTED, account);
  }
  if (scopes?.length === 0) throw new KeyRefused('scopes', 'at least one scope', 'none');
  if (
    rate !== undefined &&
    !(isWhole(rate.requests, 0, MAX_RATE_REQUESTS) && isWhole(rate.windowS, 1, MAX_RATE_WINDOW_S))
  ) {
    const expected = `up to ${MAX_RATE_REQUESTS} requests in 1 to ${MAX_RATE_WINDOW_S} s`;
    throw new KeyRefused('rate', expected, `${rate.requests} in ${rate.windowS} s`);
  }
  if (concurrency !== undefined && !isWhole(concurrency, 0, MAX_KEY_CONCURRENCY)) {
    throw new KeyRefused('concurrency', `a whole number up to ${MAX_KEY_CONCURRENCY}`, String(concurrency));
  }
  if (expiresAt === undefined) return;
  const inS = (expiresAt.getTime() - now.getTime()) / 1000;
  if (!(inS > 0 && inS <= MAX_EXPIRES_IN_S)) {
    const received = Number.isNaN(inS) ? 'no date' : expiresAt.toISOString();
    throw new KeyRefused('expires_at', 'a time in the future, at most 100 years ahead', received);
  }
}
