// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas, FieldValues } from './fields.js';
import type { DetectorNames } from './model-ids.js';
import { anyModel, predictFieldSchemas } from './predict-fields.js';

export const streamEncodings = ['pcm16', 'mulaw', 'alaw', 'opus'] as const;
export const OPUS_RATE_HZ = 48_000;
export const TELEPHONE_RATE_HZ = 8000;

/**
 * The parameters of a stream, in the query or in its message `start`.
 * @param detectors the available ones
 */
export function streamFieldSchemas(detectors: readonly DetectorNames[]) {
  const { prediction_id, threshold, silence_threshold, profile, detail } = predictFieldSchemas(detectors);
  return {
    encoding: {
      type: 'string',
      enum: streamEncodings,
      expected: 'pcm16, mulaw, alaw or opus',
      description:
        '`pcm16`: samples of 16 bits, little-endian, one channel. `mulaw` and `alaw`: G.711, one channel. `opus`: one Opus packet per message, without a container.',
    },
    sample_rate: {
      type: 'number',
      multipleOf: 1,
      minimum: 8000,
      maximum: 192_000,
      expected: 'a whole number from 8000 to 192000; 48000 for Opus',
      description:
        'Samples per second. Required for `pcm16`; 8000 by default for G.711; Opus always counts at 48000.',
    },
    channels: {
      type: 'number',
      enum: [1, 2],
      default: 1,
      expected: '1 or 2',
      description: 'Channels of the Opus packets; other encodings have one.',
    },
    pre_skip: {
      type: 'number',
      multipleOf: 1,
      minimum: 0,
      maximum: 65_535,
      default: 0,
      expected: 'a whole number from 0 to 65535',
      description:
        "Samples that the Opus encoder puts before the audio; 312 for most. An Ogg file's header has the number.",
    },
    model: anyModel(detectors),
    prediction_id,
    threshold,
    silence_threshold,
    profile,
    detail,
  } as const satisfies FieldSchemas;
}

export const streamRequired = ['encoding'] as const;

export type StreamFields = FieldValues<
  ReturnType<typeof streamFieldSchemas>,
  (typeof streamRequired)[number]
>;
