// SPDX-License-Identifier: Apache-2.0
import { timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../base/errors/service-error.js';

/**
 * Refuses changes that a page of another origin has a browser make. Browsers always state the origin of a change; other
 * programs need not.
 * @param ownAddress of the dashboard, if it is configured
 * @throws ServiceError CSRF_REFUSED
 */
export function refuseForeignPages(headers: ReadonlyMap<string, string>, ownAddress: string): void {
  const site = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  if (site === undefined ? isOwn(origin, headers.get('host'), ownAddress) : site === 'same-origin') return;
  throw new ServiceError('CSRF_REFUSED', { problem: 'a page of another origin has sent it' });
}

function isOwn(origin: string | undefined, host: string | undefined, ownAddress: string): boolean {
  if (origin === undefined || (ownAddress !== '' && origin === new URL(ownAddress).origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

/** @throws ServiceError CSRF_REFUSED */
export function refuseWithoutToken(headers: ReadonlyMap<string, string>, csrfToken: string): void {
  const given = Buffer.from(headers.get('x-csrf-token') ?? '');
  const expected = Buffer.from(csrfToken);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw new ServiceError('CSRF_REFUSED', { problem: 'its header x-csrf-token is missing or wrong' });
}
