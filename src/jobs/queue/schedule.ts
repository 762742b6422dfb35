// SPDX-License-Identifier: Apache-2.0

const MINUTE_S = 60;
const HOUR_S = 3600;

/** Pauses after failed attempts, in seconds: 12 attempts within 23 hours and 43 minutes. docs/webhooks.md states them. */
const pausesS: readonly number[] = [
  5,
  30,
  2 * MINUTE_S,
  5 * MINUTE_S,
  15 * MINUTE_S,
  30 * MINUTE_S,
  HOUR_S,
  2 * HOUR_S,
  4 * HOUR_S,
  8 * HOUR_S,
  8 * HOUR_S - 10 * MINUTE_S,
];

/** The longest that a delivery waits in the queue. */
export const MAX_PAUSE_S = Math.max(...pausesS);
/** The longest `Retry-After` that is followed. */
const MAX_RETRY_AFTER_S = HOUR_S;

/**
 * Undefined after the last attempt.
 * @param attempts that have failed
 * @param retryAfterS as the client's server asks
 */
export function pauseAfter(attempts: number, retryAfterS = 0): number | undefined {
  const pauseS = pausesS[attempts - 1];
  return pauseS === undefined ? undefined : Math.max(pauseS, Math.min(retryAfterS, MAX_RETRY_AFTER_S));
}
