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
      'Open streams of each process, and their connections; one key and one address each get a share. 0 turns streams off. Each takes 1.6 MiB of `VERAVOX_MAX_INFLIGHT_BYTES`.',
  }),
  maxStreamDurationS: integer({
    variable: 'VERAVOX_MAX_STREAM_DURATION_S',
    default: 14_400,
    minimum: 1,
    maximum: 86_400,
    unit: 's',
    description: 'Longest stream, in audio and in time.',
  }),
};
