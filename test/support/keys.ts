// SPDX-License-Identifier: Apache-2.0
import type { AuthenticatedKey, Authenticator } from '../../src/state/keys/authenticator.js';

/** Keys by their texts. */
export const authenticatorOf = (keys: ReadonlyMap<string, AuthenticatedKey>): Authenticator => ({
  authenticate: (presented) => keys.get(presented),
  find: (id) => [...keys.values()].find((key) => key.id === id),
  lookUp: () => undefined,
});

/** Keys whose text is their id. */
export function keysOf(...keys: readonly (Partial<AuthenticatedKey> & { id: string })[]): Authenticator {
  return authenticatorOf(
    new Map(keys.map((key) => [key.id, { account: 'one', scopes: new Set(['predict' as const]), ...key }])),
  );
}

/** The header with a key. */
export const withKey = (id: string): { 'x-api-key': string } => ({ 'x-api-key': id });
