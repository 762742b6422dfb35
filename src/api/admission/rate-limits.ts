// SPDX-License-Identifier: Apache-2.0
// The package's own list of exports loads limiters for ten databases.
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js';
import type { Config } from '../../base/config/options.js';
import { ServiceError } from '../../base/errors/service-error.js';
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
  /** One for each limit that some key has. */
  readonly #limiters = new Map<string, RateLimiterMemory>();

  constructor(byDefault: RateLimit) {
    this.#byDefault = byDefault;
  }

  /** Counts one request. Undefined if the key has no limit; else settled within the same turn of the event loop. */
  count(key: Pick<AuthenticatedKey, 'id' | 'rate'>): Promise<RateState> | undefined {
    const limit = limitOf(key, this.#byDefault);
    if (limit === undefined) return undefined;
    return this.#limiter(limit)
      .consume(key.id)
      .then(
        (result) => state(limit, result, false),
        (reason: unknown) => {
          // One request too many is no error to the limiter, but a rejection.
          if (reason instanceof RateLimiterRes) return state(limit, reason, true);
          throw reason;
        },
      );
  }

  #limiter({ requests, windowS }: RateLimit): RateLimiterMemory {
    const name = `${requests}/${windowS}`;
    let limiter = this.#limiters.get(name);
    if (limiter === undefined) {
      limiter = new RateLimiterMemory({ points: requests, duration: windowS });
      this.#limiters.set(name, limiter);
    }
    return limiter;
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

function state(limit: RateLimit, result: RateLimiterRes, isExceeded: boolean): RateState {
  return {
    ...limit,
    remaining: result.remainingPoints,
    isExceeded,
    resetsAtMs: Date.now() + result.msBeforeNext,
  };
}

/** Whole seconds until the window has ended: a client that waits that long does not come too early. */
export const secondsToReset = ({ resetsAtMs }: RateState): number =>
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
