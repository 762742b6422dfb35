// SPDX-License-Identifier: Apache-2.0
import { answerHeaders } from '../../base/contract/answer-headers.js';
import { COSINE_HEADER, FLAG_HEADER } from '../../base/contract/voice-endpoints.js';
import type { Headers } from '../routes/route.js';
import type { HttpRequest } from './uws.js';

const METHODS = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';
/** Most browsers cap this at two hours. */
const MAX_AGE_S = '7200';
/** In addition to the headers that every page may read. */
const EXPOSED = [
  ...Object.keys(answerHeaders),
  FLAG_HEADER,
  COSINE_HEADER,
  'allow',
  'etag',
  'content-range',
  'accept-ranges',
].join(', ');

const HEADER_NAMES = /^[a-z0-9-]{1,64}( ?, ?[a-z0-9-]{1,64}){0,31}$/i;

/** Browsers send the cookie of the dashboard there, which is of the server's own origin. */
const COOKIE_PATHS = '/v1/admin/';

const none: Headers = [];
const varies = ['vary', 'origin'] as const;

/**
 * Decides which web pages may read answers. Requests from others are served all the same: keys decide on a client's rights, and
 * because browsers never send keys by themselves, no page can act in the name of its visitor. The admin API also has cookies,
 * so no other origin may read its answers, whatever is allowed.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>;
  readonly #anyOrigin: boolean;

  /** @param origins `*` means any */
  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
    this.#anyOrigin = this.#origins.has('*');
  }

  /** Headers for every answer to this request; call it only while uWebSockets.js' handler runs. */
  headersFor(req: HttpRequest, method: string): Headers {
    if (this.#origins.size === 0 || req.getUrl().startsWith(COOKIE_PATHS)) return none;
    const origin = req.getHeader('origin');
    if (!this.#anyOrigin && !this.#origins.has(origin)) return [varies];
    if (origin === '') return none;
    const allowed: [string, string] = ['access-control-allow-origin', this.#anyOrigin ? '*' : origin];
    const always = this.#anyOrigin ? [allowed] : [allowed, varies];
    if (method !== 'OPTIONS' || req.getHeader('access-control-request-method') === '') {
      return [...always, ['access-control-expose-headers', EXPOSED]];
    }
    const wanted = req.getHeader('access-control-request-headers');
    return [
      ...always,
      ['access-control-allow-methods', METHODS],
      ...(HEADER_NAMES.test(wanted) ? [['access-control-allow-headers', wanted] as const] : []),
      ['access-control-max-age', MAX_AGE_S],
    ];
  }
}
