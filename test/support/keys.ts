// SPDX-License-Identifier: Apache-2.0
import type { AuthenticatedKey, Authenticator } from '../../src/state/keys/authenticator.js';

/** Keys whose text is their id. */
export function keysOf(...keys: readonly (Partial<AuthenticatedKey> & { id: string })[]): Authenticator {
  const byId = new Map(
    keys.map((key) => [key.id, { account: 'one', scopes: new Set(['predict' as const]), ...key }]),
  );
  return { authenticate: (presented) => byId.get(presented) };
}

/** The header with a key. */
export const withKey = (id: string): { 'x-api-key': string } => ({ 'x-api-key': id });
