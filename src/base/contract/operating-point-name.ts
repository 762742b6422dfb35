// SPDX-License-Identifier: Apache-2.0

/**
 * How operating points may be called: never like a number, which may stand in the same places, nor like what programs
 * write where they have no number.
 */
export const OPERATING_POINT_NAME =
  /^(?!(?:null|undefined|none|nan|inf|infinity|true|false)$)[a-z][a-z0-9_-]{0,31}$/;

/** The same in words. */
export const OPERATING_POINT_NAME_EXPECTED =
  '1 to 32 lower-case letters, digits, hyphens and underscores, a letter first, not a word such as null or true';

/** What may stand where a threshold is asked for, in words. */
export const THRESHOLD_EXPECTED = 'a number from 0 to 1, or the name of an operating point';
