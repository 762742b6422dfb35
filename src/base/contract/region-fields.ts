// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas } from './fields.js';

/** No recording that the service takes is longer. */
const MAX_TIME_S = 86_400;

const time = { type: 'number', minimum: 0, maximum: MAX_TIME_S } as const;

/** The stretch of a recording that is analysed. */
export const regionFieldSchemas = {
  start: {
    ...time,
    expected: `a number of seconds from 0 to ${MAX_TIME_S}`,
    description: 'Analyse from here on, in seconds; by default from the start of the recording.',
  },
  end: {
    ...time,
    expected: `a number of seconds from 0 to ${MAX_TIME_S}`,
    description: 'Analyse up to here, in seconds; by default up to the end of the recording.',
  },
} as const satisfies FieldSchemas;
