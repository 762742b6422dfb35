// SPDX-License-Identifier: Apache-2.0
import { hash } from 'node:crypto';
import type { RoleOfClaim } from '../../base/config/oidc-values.js';
import { nearestName } from '../../base/contract/names.js';
import { isAtLeast, type Role } from '../../base/contract/roles.js';
import type { Identity } from '../users/user.js';

type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

/** A person, as their provider names them. */
export interface Person {
  readonly identity: Identity;
  readonly name: string;
  /** Undefined for people without one. */
  readonly role: Role | undefined;
}

/** With room for a suffix that tells namesakes apart. */
const MAX_CHARS = 80;

/** @param claim its name; dots lead into objects, as in `realm_access.roles` */
export const personOf = (claims: Claims, claim: string, roles: readonly RoleOfClaim[]): Person => ({
  identity: { issuer: claims.iss, subject: claims.sub },
  name: nameIn(claims),
  role: highest(roles.filter(({ value }) => valuesOf(claims, claim).includes(value)).map(({ role }) => role)),
});

const highest = (granted: readonly Role[]): Role | undefined =>
  granted.reduce<Role | undefined>(
    (best, role) => (best === undefined || isAtLeast(role, best) ? role : best),
    undefined,
  );

function valuesOf(claims: Claims, claim: string): readonly unknown[] {
  if (Object.hasOwn(claims, claim)) return [claims[claim]].flat();
  let found: unknown = claims;
  for (const part of claim.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return [];
    found = (found as Record<string, unknown>)[part];
  }
  return [found].flat();
}

/** People choose such names at some providers, so they may contain anything. */
function nameIn({ preferred_username, email, name, sub }: Claims): string {
  for (const candidate of [preferred_username, email, name]) {
    if (typeof candidate !== 'string') continue;
    const name = nearestName([...candidate].slice(0, MAX_CHARS).join(''));
    if (name !== '') return name;
  }
  return `user ${hash('sha256', sub, 'hex').slice(0, 12)}`;
}
