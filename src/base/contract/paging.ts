// SPDX-License-Identifier: Apache-2.0

/** Of the queries for lists. */
export const pageLimit = {
  type: 'string',
  maxLength: 3,
  pattern: '^([1-9][0-9]{0,2})$',
  default: '100',
  expected: 'a number from 1 to 999',
} as const;

export const CURSOR = {
  type: 'string',
  maxLength: 128,
  pattern: '^[A-Za-z0-9_-]+$',
  expected: 'the `next_cursor` of a page',
  description: 'Continues after an earlier page.',
} as const;

/** Of the answers. */
export const nextCursor = {
  type: ['string', 'null'],
  description: 'For the next page; null on the last.',
  minLength: 1,
} as const;
