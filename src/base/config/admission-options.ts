// SPDX-License-Identifier: Apache-2.0
import { integer, MEBIBYTE } from './option.js';

/** Limits on simultaneous requests, in all and by origin. */
export const admissionOptions = {
  maxInflightBytes: integer({
    variable: 'VERAVOX_MAX_INFLIGHT_BYTES',
    default: 256 * MEBIBYTE,
    minimum: MEBIBYTE,
    maximum: 64 * 1024 * MEBIBYTE,
    unit: 'bytes',
    description:
      'Memory for the data of clients: uploads, streams, other bodies (docs/overload.md). When it is full, uploads are read more slowly, then refused with 503; everything else is refused at once.',
  }),
  maxInflightRequests: integer({
    variable: 'VERAVOX_MAX_INFLIGHT_REQUESTS',
    default: 1024,
    minimum: 1,
    maximum: 1_000_000,
    unit: 'requests',
    description: 'Requests in flight at once. Further ones are refused with 503 and `Retry-After`.',
  }),
  maxTransfers: integer({
    variable: 'VERAVOX_MAX_TRANSFERS',
    default: 256,
    minimum: 1,
    maximum: 1_000_000,
    unit: 'transfers',
    description:
      'Concurrent uploads and downloads through links to the data folder, counted apart from other requests. Further ones are refused with 503 and `Retry-After`.',
  }),
  maxWaitMs: integer({
    variable: 'VERAVOX_MAX_WAIT_MS',
    default: 500,
    minimum: 1,
    maximum: 3_600_000,
    unit: 'ms',
    description:
      'Longest expected wait for a free thread at the current pace of requests. If it would be longer, new requests are refused with 503 and `Retry-After` before their bodies are read.',
  }),
  keySharePercent: integer({
    variable: 'VERAVOX_KEY_SHARE_PERCENT',
    default: 50,
    minimum: 1,
    maximum: 100,
    unit: '%',
    description:
      "Largest share of one API key in the requests in flight that others leave free, of one account's links in the transfers, and of one file's downloads in the transfers of its account. The shares of a key in memory and of a client address in everything follow from it and are larger: 80 and 90 % with the default, 100 % with 100.",
  }),
  rateLimitRequests: integer({
    variable: 'VERAVOX_RATE_LIMIT_REQUESTS',
    default: 0,
    minimum: 0,
    maximum: 1_000_000_000,
    unit: 'requests',
    description:
      'Requests per API key and `VERAVOX_RATE_LIMIT_WINDOW_S`, unless the key has its own limit. Further ones are refused with 429. 0 means no limit.',
  }),
  rateLimitWindowS: integer({
    variable: 'VERAVOX_RATE_LIMIT_WINDOW_S',
    default: 60,
    minimum: 1,
    maximum: 86_400,
    unit: 's',
    description: 'Window in which the requests of an API key are counted; it starts with the first one.',
  }),
  keyConcurrency: integer({
    variable: 'VERAVOX_KEY_CONCURRENCY',
    default: 512,
    minimum: 0,
    maximum: 1_000_000,
    unit: 'requests',
    description:
      'Requests in flight per API key, unless the key has its own limit. Further ones are refused with 429. 0 means no limit but `VERAVOX_KEY_SHARE_PERCENT`, which always applies.',
  }),
};
