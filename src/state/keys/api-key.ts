// SPDX-License-Identifier: Apache-2.0
import { hash, randomBytes } from 'node:crypto';
import { ACCOUNT } from '../../base/contract/key-limits.js';
import type { Scope } from '../../base/contract/scopes.js';

/** A number of requests per window; `requests` = 0 sets no limit. */
export interface RateLimit {
  readonly requests: number;
  readonly windowS: number;
}

/** `admin` stands for all scopes. */
export const allows = (granted: ReadonlySet<Scope>, wanted: Scope): boolean =>
  granted.has(wanted) || granted.has('admin');

/** An API key as the server keeps it: everything but its secret. */
export interface StoredKey {
  /** Public part of the key; names it in logs and on the command line. */
  readonly id: string;
  readonly name: string;
  /** Keys of one account see the same stored objects; `[a-z0-9][a-z0-9-]{0,31}`. */
  readonly account: string;
  readonly scopes: readonly Scope[];
  /** Wins over the server's own limit; no requests means no limit. */
  readonly rate?: RateLimit;
  /** Requests in flight at once; wins over the server's own limit. 0 means no limit. */
  readonly concurrency?: number;
  /** SHA-256 of the secret, hexadecimal. */
  readonly secretSha256: string;
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  /** Made by a page of the dashboard for itself; removed when it is over. */
  readonly endsWithSession?: true;
}

/** The fields of a new key. */
export interface NewKey {
  readonly name: string;
  /** Default: DEFAULT_ACCOUNT. */
  readonly account?: string;
  readonly scopes: readonly Scope[];
  readonly rate?: RateLimit;
  readonly concurrency?: number;
  readonly expiresAt?: Date;
  readonly endsWithSession?: true;
}

export interface CreatedKey {
  readonly key: StoredKey;
  /** As its owner sends it; kept nowhere. */
  readonly text: string;
}

/** The account of keys that were made without naming one. */
export const DEFAULT_ACCOUNT = 'default';

export const isAccount = (text: string): boolean => ACCOUNT.test(text);

const keyForm = /^vx_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

/** With a new id and a new secret of 32 random bytes. */
export function newKey(wanted: NewKey, now = new Date()): CreatedKey {
  const id = randomBytes(6).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  const secretSha256 = digestOfSecret(secret).toString('hex');
  const key: StoredKey = { id, account: DEFAULT_ACCOUNT, ...wanted, secretSha256, createdAt: now };
  return { key, text: formatKey(id, secret) };
}

/** The key as its owner sends it in `x-api-key`. */
function formatKey(id: string, secret: string): string {
  return `vx_${id}_${secret}`;
}

/** Undefined when the text cannot be a key. */
export function parseKey(presented: string): { id: string; secret: string } | undefined {
  const [, id, secret] = keyForm.exec(presented) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/**
 * The stored digest of a secret. A password would need a slow hash because it can be guessed; these are 256 random bits, which
 * no number of fast guesses finds, so that a fast hash is as safe and costs a request only microseconds.
 */
export function digestOfSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

export function isActive(key: Pick<StoredKey, 'expiresAt' | 'revokedAt'>, now: Date): boolean {
  return key.revokedAt === undefined && (key.expiresAt === undefined || key.expiresAt > now);
}
