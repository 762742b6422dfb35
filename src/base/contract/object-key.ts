// SPDX-License-Identifier: Apache-2.0

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * The form of a key, apart from its length. Clients resolve segments such as `.` and `..` before they send a request, so
 * its signature would not match. Clients also check keys by this pattern: it means the same with and without the flag `u`
 * and in other languages, which is why surrogates are left to `isWellFormed`.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it refuses
export const KEY = /^(?!\/)(?![\s\S]*(?:^|\/)\.{1,2}(?:\/|$))[^\u0000-\u001f\u007f-\u009f]+$/;
/** The same for the start of a key, which may be empty, or end within a segment such as `.well-known`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it refuses
export const KEY_PREFIX = /^(?!\/)(?![\s\S]*(?:^|\/)\.{1,2}\/)[^\u0000-\u001f\u007f-\u009f]*$/;

/** False for half a surrogate pair, which has no UTF-8. */
export const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text);
