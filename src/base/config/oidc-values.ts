// SPDX-License-Identifier: Apache-2.0
import { type Role, roles } from '../contract/roles.js';

/** Plain HTTP shows codes and tokens to everybody on the way, so it is for tests on one machine. */
const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Undefined if the text is not an issuer. */
export function parseIssuer(given: string): string | undefined {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return undefined;
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && loopback.has(url.hostname));
  return isAllowed ? given : undefined;
}

export interface RoleOfClaim {
  readonly value: string;
  readonly role: Role;
}

/** The role stands behind the last equals sign: values may contain some. */
export function parseRoleOfClaim(pair: string): RoleOfClaim | undefined {
  const end = pair.lastIndexOf('=');
  const role = roles.find((candidate) => candidate === pair.slice(end + 1).trim());
  const value = pair.slice(0, Math.max(0, end)).trim();
  return role === undefined || value === '' ? undefined : { value, role };
}
