// SPDX-License-Identifier: Apache-2.0
import type { Scope } from '../../base/contract/scopes.js';
import type { RateLimit } from './api-key.js';

export interface AuthenticatedKey {
  /** Names the key in logs; says nothing about its secret. */
  readonly id: string;
  /** The key's account: keys of one account see the same stored objects and are metered together. */
  readonly account: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Wins over the server's own limit. */
  readonly rate?: RateLimit;
  /** Requests in flight at once; wins over the server's own limit. 0 means no limit. */
  readonly concurrency?: number;
}

/** Tells whose key it is. */
export interface Authenticator {
  /** Undefined for a key that is unknown, expired or revoked. Takes the same time for any wrong key. */
  authenticate(presented: string): AuthenticatedKey | undefined;
  /** The key with this id, for whom has proved it before; undefined as above. */
  find(id: string): AuthenticatedKey | undefined;
  /**
   * Looks for a key that was made a moment ago. Undefined if there is nothing to look for; rejects with a DatabaseError if the
   * database cannot tell.
   */
  lookUp(presented: string): Promise<AuthenticatedKey | undefined> | undefined;
}
