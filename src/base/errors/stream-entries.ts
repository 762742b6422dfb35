// SPDX-License-Identifier: Apache-2.0
import type { CatalogueEntry } from './catalogue-entry.js';

/** Errors of streams (docs/stream.md). */
export const streamEntries = {
  UPGRADE_REQUIRED: {
    status: 426,
    code: 'validation_error',
    message: 'This path speaks WebSocket: send an upgrade request of version 13.',
    when: 'The request to `/v1/stream` is not a WebSocket upgrade.',
  },
  ORIGIN_REFUSED: {
    status: 403,
    code: 'forbidden',
    message: 'Pages of {origin} may not open streams here.',
    when: "A web page opens a stream, and its origin is neither the server's nor in `VERAVOX_CORS_ORIGINS`.",
  },
  STREAM_MESSAGE_INVALID: {
    status: 400,
    code: 'validation_error',
    message: 'The message is not valid here: {problem}.',
    when: 'A message of a stream has an unknown type, lacks fields, comes at the wrong time, or holds half a sample; or a media stream breaks its protocol.',
  },
  STREAM_MESSAGE_TOO_LARGE: {
    status: 413,
    code: 'payload_too_large',
    message: 'The message exceeds the limit of {allowedBytes} bytes.',
    when: 'A JSON message of a stream is too large. Larger audio messages than allowed end the connection.',
  },
  STREAM_TOO_FAST: {
    status: 429,
    code: 'rate_limited',
    message:
      'More than {seconds} s of audio wait for analysis: send it no faster than it is spoken; retry after {retryAfterS} s.',
    when: 'The client of a stream sends audio faster than it can be analysed.',
    retryAfterS: 5,
  },
  STREAM_NOT_READ: {
    status: 408,
    code: 'timeout',
    message: "The client does not read the server's messages.",
    when: 'The stream has too many unread messages.',
  },
  STREAM_IDLE: {
    status: 408,
    code: 'timeout',
    message: 'No audio arrived for {seconds} s.',
    when: 'The client of a stream sends nothing, neither parameters nor audio, for too long.',
  },
  STREAM_TOO_LONG: {
    status: 413,
    code: 'payload_too_large',
    message: 'The stream is longer than the allowed {seconds} s.',
    when: 'A stream reaches `VERAVOX_MAX_STREAM_DURATION_S`, in audio or in time since its start.',
  },
  STREAM_UNKNOWN: {
    status: 404,
    code: 'not_found',
    message: 'There is no stream to resume with this id and secret.',
    when: 'The stream is over or was disconnected for too long, or the secret or the key is wrong.',
  },
  STREAM_ELSEWHERE: {
    status: 503,
    code: 'unavailable',
    message: 'The stream lives in another process of the server; retry after {retryAfterS} s.',
    when: 'A connection resumes a stream of another process or host.',
    retryAfterS: 1,
  },
  STREAM_TAKEN_OVER: {
    status: 409,
    code: 'validation_error',
    message: 'Another connection has resumed this stream.',
    when: 'Two connections claim one stream: the later one has it.',
  },
  CALL_UNKNOWN: {
    status: 404,
    code: 'not_found',
    message: 'This process has no call with this id. It may begin later; ended calls are kept for 30 s.',
    when: 'The request comes before the call begins, long after its end or to another process, or its key belongs to another account.',
  },
} as const satisfies Record<string, CatalogueEntry>;
