// SPDX-License-Identifier: Apache-2.0
import type { RouteRequest } from '../../api/routes/route.js';

type Asked = Pick<RouteRequest, 'headers' | 'isFromTrustedProxy' | 'isOperator'>;

/**
 * Whether the browser speaks HTTPS: to this server, or to a trusted proxy that says so. The admin address has no TLS.
 * @param hasTls on the public address
 */
export function isSecure({ headers, isFromTrustedProxy, isOperator }: Asked, hasTls: boolean): boolean {
  const forwarded = isFromTrustedProxy ? headers.get('x-forwarded-proto') : undefined;
  if (forwarded !== undefined) return forwarded.split(',')[0]?.trim().toLowerCase() === 'https';
  return hasTls && !isOperator;
}

/** The purpose of a cookie. */
export type CookieUse = 'session' | 'oidc';

const names: Readonly<Record<CookieUse, string>> = { session: 'veravox', oidc: 'veravox-oidc' };

/** Browsers take the prefix only over HTTPS, and then from this host alone. */
const nameOf = (use: CookieUse, secure: boolean): string => `${secure ? '__Host-' : ''}${names[use]}`;

/** Empty without such a cookie. */
export function cookieIn(headers: ReadonlyMap<string, string>, use: CookieUse, secure: boolean): string {
  const wanted = `${nameOf(use, secure)}=`;
  const found = (headers.get('cookie') ?? '')
    // Neither commas nor other spaces: another host's cookie could hide ours behind them, past the prefix.
    .split(/;[ \t]*/)
    // The last one: uWebSockets.js drops such bytes at the begin of a header.
    .findLast((cookie) => cookie.startsWith(wanted));
  return found?.slice(wanted.length) ?? '';
}

/** @param maxAgeS 0 removes the cookie */
export function setCookie(
  use: CookieUse,
  secure: boolean,
  value: string,
  maxAgeS: number,
): readonly [string, string] {
  // The provider leads back from its own site, with which browsers send no strict cookie.
  const sameSite = use === 'session' ? 'Strict' : 'Lax';
  const attributes = `Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`;
  return ['set-cookie', `${nameOf(use, secure)}=${value}; ${attributes}`];
}
