// SPDX-License-Identifier: Apache-2.0

/** Tries of a job before it fails for good. */
export const MAX_TRIES = 5;
/** Before the second try; doubled before each further one. */
export const RETRY_DELAY_MS = 5000;

/** The pause after a failed try. */
export const pauseAfterMs = (tries: number, firstMs = RETRY_DELAY_MS): number => firstMs * 2 ** (tries - 1);
