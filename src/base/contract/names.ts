// SPDX-License-Identifier: Apache-2.0
//
// Names that one person chooses and others read, in pages, tables and logs: of keys and users.
import { escapeInvisible, removeInvisible } from '../errors/visible-text.js';

export const MAX_NAME_CHARS = 100;

/** Joiners, as in Persian words and families of emoji, and variants of emoji, that are not behind their base character. */
const STRAY =
  /(?:^|[\p{Zs}\p{Join_Control}])[\p{Join_Control}\p{Variation_Selector}]|\p{Variation_Selector}{2}|\p{Join_Control}(?:$|\p{Zs})/u;

const EDGE_SPACE = /^\p{Zs}|\p{Zs}$/u;

/** Most of the rule, in the same words for every language and for regular expressions without the flag `u`. */
const NAME =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it refuses
  /^[^\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$/;

export const isName = (text: string): boolean =>
  text.length > 0 &&
  text.length <= MAX_NAME_CHARS &&
  escapeInvisible(text) === text &&
  !STRAY.test(text) &&
  !EDGE_SPACE.test(text);

/** The nearest name to one from elsewhere; empty if nothing of it can be seen. */
export function nearestName(text: string): string {
  const visible = removeInvisible(text).trim();
  return isName(visible) ? visible : withoutJoiners(visible).trim();
}

/** Names that differ in nothing else look alike. */
export const withoutJoiners = (text: string): string =>
  text.replace(/[\p{Join_Control}\p{Variation_Selector}]/gu, '');

/** Of any text that may be the name of a person or thing. */
export const namePattern = { pattern: NAME.source } as const;

/** The schema of a new name. */
export const nameSchema = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_NAME_CHARS,
  ...namePattern,
  isName: true,
  expected: `1 to ${MAX_NAME_CHARS} visible characters, with spaces and joiners only between them`,
} as const;
