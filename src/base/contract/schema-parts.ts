// SPDX-License-Identifier: Apache-2.0

export const orNull = <const Type extends string>(type: Type, description: string) =>
  ({ type: [type, 'null'], description }) as const;

/** A time, or null. */
export const moment = (description: string) =>
  ({ type: ['string', 'null'], format: 'date-time', description }) as const;
