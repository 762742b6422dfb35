// SPDX-License-Identifier: Apache-2.0
//
// Limits of API keys, from a shell and over HTTP.

export const ACCOUNT = /^[a-z0-9][a-z0-9-]{0,31}$/;
export const ACCOUNT_EXPECTED = '1 to 32 lower-case letters, digits and hyphens, not starting with a hyphen';

export const MAX_RATE_REQUESTS = 999_999_999;
/** Longer ones would overflow the timers that end them. */
export const MAX_RATE_WINDOW_S = 86_400;

export const MAX_KEY_CONCURRENCY = 9_999_999;
