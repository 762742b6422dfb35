// SPDX-License-Identifier: Apache-2.0

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * What a key must look like beside its length. `.` and `../..` as segments would be resolved by clients before they send
 * the request, so that the signature would not fit. Clients check keys by it, too: it means the same with and without
 * the flag `u`, and in other languages, which is why surrogates are left to `isWellFormed`.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it refuses
export const KEY = /^(?!\/)(?![\s\S]*(?:^|\/)\.{1,2}(?:\/|$))[^\u0000-\u001f\u007f-\u009f]+$/;
/** The same for the start of a key, which may be empty. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it refuses
export const KEY_PREFIX = /^(?!\/)(?![\s\S]*(?:^|\/)\.{1,2}(?:\/|$))[^\u0000-\u001f\u007f-\u009f]*$/;

/** No half of a surrogate pair: it has no UTF-8. */
export const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text);
