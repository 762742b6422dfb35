// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { FixedWindows } from '../../base/fixed-windows.js';
import type { RateLimit } from '../../state/keys/api-key.js';
import type { AuthenticatedKey } from '../../state/keys/authenticator.js';

/** The state of a key's rate after one more request. */
export interface RateState extends RateLimit {
  /** Requests that are left in the window. */
  readonly remaining: number;
  /** This request was one too many. */
  readonly isExceeded: boolean;
  /** When the window ends, as `Date.now()` counts. */
  readonly resetsAtMs: number;
}

/** Counts requests against the rates of their keys. */
export interface RateCounter {
  /** Counts one request. Undefined if the key has no limit. */
  count(key: Pick<AuthenticatedKey, 'id' | 'rate'>): Promise<RateState> | undefined;
}

/**
 * Counts the requests of each key in windows of fixed length, which begin with a key's first request. In this process
 * only: several servers behind one address each grant the whole limit.
 */
export class RateLimits implements RateCounter {
  readonly #byDefault: RateLimit;
  readonly #nowMs: (() => number) | undefined;
  /** By the limits that keys have. */
  readonly #windows = new Map<string, FixedWindows>();

  constructor(byDefault: RateLimit, nowMs?: () => number) {
    this.#byDefault = byDefault;
    this.#nowMs = nowMs;
  }

  /** Counts one request. Undefined if the key has no limit; else settled within the same turn of the event loop. */
  count(key: Pick<AuthenticatedKey, 'id' | 'rate'>): Promise<RateState> | undefined {
    const limit = limitOf(key, this.#byDefault);
    if (limit === undefined) return undefined;
    const { leftMs, ...state } = this.#windowsOf(limit).count(key.id);
    return Promise.resolve({ ...limit, ...state, resetsAtMs: Date.now() + leftMs });
  }

  #windowsOf({ requests, windowS }: RateLimit): FixedWindows {
    const name = `${requests}/${windowS}`;
    let windows = this.#windows.get(name);
    if (windows === undefined) {
      windows = new FixedWindows(requests, windowS * 1000, this.#nowMs);
      this.#windows.set(name, windows);
    }
    return windows;
  }
}

/** Undefined if the key has none. */
export function limitOf(
  { rate }: Pick<AuthenticatedKey, 'rate'>,
  byDefault: RateLimit,
): RateLimit | undefined {
  const limit = rate ?? byDefault;
  return limit.requests === 0 ? undefined : limit;
}

/** That of keys without one of their own. */
export const rateLimitOf = (config: Pick<Config, 'rateLimitRequests' | 'rateLimitWindowS'>): RateLimit => ({
  requests: config.rateLimitRequests,
  windowS: config.rateLimitWindowS,
});

/** Whole seconds until the window has ended: a client that waits that long does not come too early. */
const secondsToReset = ({ resetsAtMs }: RateState): number =>
  Math.max(0, Math.ceil((resetsAtMs - Date.now()) / 1000));

/** Answers a request that was one too many. */
export function rateRefusal(rate: RateState): ServiceError {
  const { requests: limit, windowS } = rate;
  // At least a second: 0 would be wrong for a window that ends at this moment.
  const retryAfterS = Math.max(1, secondsToReset(rate));
  return new ServiceError('RATE_LIMITED', { limit, windowS, retryAfterS });
}

/** The header fields of draft-ietf-httpapi-ratelimit-headers up to its version 06, which clients know best. */
export function rateLimitHeaders(rate: RateState): [name: string, value: string][] {
  const isOver = rate.resetsAtMs <= Date.now();
  return [
    ['ratelimit-limit', String(rate.requests)],
    // A long analysis outlives the window in which it was counted.
    ['ratelimit-remaining', String(isOver ? rate.requests : rate.remaining)],
    ['ratelimit-reset', String(secondsToReset(rate))],
  ];
}
