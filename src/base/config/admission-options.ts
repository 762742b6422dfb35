// SPDX-License-Identifier: Apache-2.0
import { integer, MEBIBYTE } from './option.js';

/** How much is taken in at once, and from whom. */
export const admissionOptions = {
  maxInflightBytes: integer({
    variable: 'VERAVOX_MAX_INFLIGHT_BYTES',
    default: 256 * MEBIBYTE,
    minimum: MEBIBYTE,
    maximum: 64 * 1024 * MEBIBYTE,
    unit: 'bytes',
    description:
      'Memory for uploads, over all requests; when it is full, connections are read more slowly, then refused with 503.',
  }),
  maxInflightRequests: integer({
    variable: 'VERAVOX_MAX_INFLIGHT_REQUESTS',
    default: 1024,
    minimum: 1,
    maximum: 1_000_000,
    unit: 'requests',
    description: 'Requests admitted at once; one more is refused with 503 and `Retry-After`.',
  }),
  maxTransfers: integer({
    variable: 'VERAVOX_MAX_TRANSFERS',
    default: 256,
    minimum: 1,
    maximum: 1_000_000,
    unit: 'transfers',
    description:
      'Uploads and downloads at once through links to the data folder, apart from other requests; one more is refused with 503 and `Retry-After`.',
  }),
  maxWaitMs: integer({
    variable: 'VERAVOX_MAX_WAIT_MS',
    default: 500,
    minimum: 1,
    maximum: 3_600_000,
    unit: 'ms',
    description:
      'Longest expected wait for a free thread, by the current pace of requests; if it would be longer, a new request is refused with 503 and `Retry-After` before its body is read.',
  }),
  keySharePercent: integer({
    variable: 'VERAVOX_KEY_SHARE_PERCENT',
    default: 50,
    minimum: 1,
    maximum: 100,
    unit: '%',
    description:
      "Share of one API key in the requests in flight that others leave, of one account's links in the transfers, and of one file's downloads in those of its account.",
  }),
  keyMemoryPercent: integer({
    variable: 'VERAVOX_KEY_MEMORY_PERCENT',
    default: 80,
    minimum: 1,
    maximum: 100,
    unit: '%',
    description:
      'Share of one API key in the upload memory that others leave; by default, one key can send two of the largest files at once.',
  }),
  addressSharePercent: integer({
    variable: 'VERAVOX_ADDRESS_SHARE_PERCENT',
    default: 90,
    minimum: 1,
    maximum: 100,
    unit: '%',
    description:
      'Share of one client address in the requests, transfers and upload memory that others leave; set 100 behind a proxy that hides the addresses.',
  }),
  rateLimitRequests: integer({
    variable: 'VERAVOX_RATE_LIMIT_REQUESTS',
    default: 0,
    minimum: 0,
    maximum: 1_000_000_000,
    unit: 'requests',
    description:
      'Requests that an API key may make per `VERAVOX_RATE_LIMIT_WINDOW_S`, unless the key has a limit of its own; one more is refused with 429. 0 sets no limit.',
  }),
  rateLimitWindowS: integer({
    variable: 'VERAVOX_RATE_LIMIT_WINDOW_S',
    default: 60,
    minimum: 1,
    maximum: 86_400,
    unit: 's',
    description: 'Time in which the requests of an API key are counted, from its first one on.',
  }),
  keyConcurrency: integer({
    variable: 'VERAVOX_KEY_CONCURRENCY',
    default: 512,
    minimum: 0,
    maximum: 1_000_000,
    unit: 'requests',
    description:
      'Requests that an API key may have in flight at once, unless the key has a limit of its own; one more is refused with 429. 0 leaves it at `VERAVOX_KEY_SHARE_PERCENT`, which holds in any case.',
  }),
};
