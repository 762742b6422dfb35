// SPDX-License-Identifier: Apache-2.0
import type { Headers, Route } from '../routes/route.js';

/** v0 was deprecated when v1 was released; it stays for six months (docs/api.md#versions). */
const deprecatedAt = new Date('2026-11-21T00:00:00Z');
const sunsetAt = new Date('2027-05-21T00:00:00Z');

const none: Headers = [];

/**
 * `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a link to the successor, for the routes of v0 and of the unversioned
 * base, which serves v0.
 */
export function deprecationHeaders(route: Pick<Route, 'path' | 'version'> | undefined): Headers {
  if (route?.version !== 'v0') return none;
  const successor = `/v1${route.path.replace(/^\/v0/, '')}`;
  return [
    ['deprecation', `@${deprecatedAt.getTime() / 1000}`],
    ['sunset', sunsetAt.toUTCString()],
    ['link', `<${successor}>; rel="successor-version"`],
  ];
}
