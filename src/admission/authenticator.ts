// SPDX-License-Identifier: Apache-2.0

export interface AuthenticatedKey {
  /** Names the key in logs; says nothing about its secret. */
  readonly id: string;
  readonly scopes: ReadonlySet<string>;
}

/** Tells whose key it is. */
export interface Authenticator {
  /** Undefined for a key that is unknown, expired or revoked. Takes the same time for any wrong key. */
  authenticate(presented: string): AuthenticatedKey | undefined;
}
