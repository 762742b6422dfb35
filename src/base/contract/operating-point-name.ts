// SPDX-License-Identifier: Apache-2.0

/**
 * Valid names of operating points: not numbers, which may appear in the same places, and not the words that programs
 * write for a missing number.
 */
export const OPERATING_POINT_NAME =
  /^(?!(?:null|undefined|none|nan|inf|infinity|true|false)$)[a-z][a-z0-9_-]{0,31}$/;

/** The same in words. */
export const OPERATING_POINT_NAME_EXPECTED =
  '1 to 32 lower-case letters, digits, hyphens and underscores, a letter first, not a word such as null or true';

/** The same for a profile, as an error calls it. */
export const PROFILE_EXPECTED = 'the name of a profile';

/** Valid thresholds in words. */
export const THRESHOLD_EXPECTED = 'a number from 0 to 1 or the name of an operating point';
