// SPDX-License-Identifier: Apache-2.0
import { integer } from './option.js';

/** Streams of live audio (docs/stream.md). */
export const streamOptions = {
  maxStreams: integer({
    variable: 'VERAVOX_MAX_STREAMS',
    default: 256,
    minimum: 0,
    maximum: 100_000,
    unit: 'streams',
    description:
      'Streams that each process has open at once, and connections of streams; one key and one address get their shares. With 0 there are none. Each takes 1.6 MiB of `VERAVOX_MAX_INFLIGHT_BYTES`.',
  }),
  maxStreamDurationS: integer({
    variable: 'VERAVOX_MAX_STREAM_DURATION_S',
    default: 14_400,
    minimum: 1,
    maximum: 86_400,
    unit: 's',
    description: 'Longest stream, in audio and in time.',
  }),
  streamIdleTimeoutS: integer({
    variable: 'VERAVOX_STREAM_IDLE_TIMEOUT_S',
    default: 60,
    minimum: 1,
    maximum: 3600,
    unit: 's',
    description: 'Time without audio after which a stream is ended.',
  }),
  streamBufferS: integer({
    variable: 'VERAVOX_STREAM_BUFFER_S',
    default: 30,
    minimum: 1,
    maximum: 600,
    unit: 's',
    description:
      'Audio of a stream that may wait for its analysis, at most 128 KiB per second; the stream of a client that sends faster is ended.',
  }),
};
