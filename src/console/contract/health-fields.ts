// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas, FieldValues } from '../../base/contract/fields.js';
import type { Fields } from '../../base/contract/operation.js';

const seconds = { type: 'string', maxLength: 10, pattern: '^[1-9][0-9]*$' } as const;
const expectedTime = 'a time in whole seconds since 1970';

/** Points of a series in one answer. */
export const MAX_POINTS = 400;

const healthSchemas = {
  from: {
    ...seconds,
    expected: expectedTime,
    description: 'Start, in seconds since 1970; by default, `last_s` before `to`. The server keeps a day.',
  },
  last_s: {
    ...seconds,
    maxLength: 5,
    default: '3600',
    expected: 'a whole number of seconds from 1 to 99999',
    description:
      'Length in seconds, up to `to`: for clients with another clock than the server. Ignored with `from`.',
  },
  to: { ...seconds, expected: expectedTime, description: 'End, in seconds since 1970; by default, now.' },
  step_s: {
    ...seconds,
    maxLength: 5,
    expected: `1, 2, 5 or a multiple of 10, and at most ${MAX_POINTS} steps`,
    description: `Seconds per step: 1, 2, 5 or a multiple of 10; below 10 only for the last hour. By default, the shortest one with at most ${MAX_POINTS} steps.`,
  },
} as const satisfies FieldSchemas;

/** The query of `GET /v1/admin/health`. */
export const healthRequest = {
  schemas: healthSchemas,
  example: { step_s: '10' },
} as const satisfies Fields;

export type HealthFields = FieldValues<typeof healthSchemas>;

/** Two weeks. */
const MAX_DRIFT_HOURS = 336;
const DEFAULT_DRIFT_HOURS = 24;
const expectedHours = `a whole number from 1 to ${MAX_DRIFT_HOURS}`;

const driftSchemas = {
  hours: {
    type: 'string',
    maxLength: 3,
    pattern: '^([1-9][0-9]?|[12][0-9]{2}|3[0-2][0-9]|33[0-6])$',
    default: String(DEFAULT_DRIFT_HOURS),
    expected: expectedHours,
    description: 'Number of hours, including the current one.',
  },
} as const satisfies FieldSchemas;

/** The query of `GET /v1/admin/drift`. */
export const driftRequest = { schemas: driftSchemas, example: { hours: '24' } } as const satisfies Fields;

export type DriftFields = FieldValues<typeof driftSchemas>;

const referenceSchemas = {
  model: {
    type: 'string',
    minLength: 1,
    maxLength: 256,
    expected: 'the name of a detector',
    description: 'The detector, by its id or an alias.',
  },
  hours: {
    type: 'number',
    multipleOf: 1,
    minimum: 1,
    maximum: MAX_DRIFT_HOURS,
    default: DEFAULT_DRIFT_HOURS,
    expected: expectedHours,
    description: 'Number of hours in the new reference, including the current one.',
  },
} as const satisfies FieldSchemas;

/** The body of `POST /v1/admin/drift/reference`. */
export const referenceRequest = {
  title: 'DriftReferenceFields',
  schemas: referenceSchemas,
  required: ['model'],
  example: { model: 'detector-large-2026-11-25', hours: 24 },
} as const satisfies Fields;

export type ReferenceFields = FieldValues<typeof referenceSchemas, 'model'>;
