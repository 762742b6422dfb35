// SPDX-License-Identifier: Apache-2.0

export const orNull = <const Type extends string>(type: Type, description: string) =>
  ({ type: [type, 'null'], description }) as const;

/** A time, or null. */
export const moment = (description: string) =>
  ({ type: ['string', 'null'], format: 'date-time', description }) as const;

/** An error of a part of the work, as answers name it. */
export const failureProperties = {
  key: {
    type: 'string',
    description: 'Name of the error in docs/errors.md.',
    pattern: '^[A-Z][A-Z0-9_]+$',
  },
  message: { type: 'string', description: 'A sentence for people.', minLength: 1 },
} as const;
