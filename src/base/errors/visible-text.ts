// SPDX-License-Identifier: Apache-2.0
//
// Foreign texts, for messages, tables and logs.

/** Without a shape of their own, or changing the order of others. Joiners and variants of emoji belong to words. */
const INVISIBLE =
  /(?!\p{Join_Control}|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** The text with an escape, such as `\u202e`, for each character that would mislead its reader. */
export const escapeInvisible = (text: string): string =>
  text.replace(INVISIBLE, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });

export const removeInvisible = (text: string): string => text.replace(INVISIBLE, '');

/** A line of JSON with its own escapes for such characters: it means the same. */
export const escapeInvisibleInJson = (json: string): string =>
  json.replace(INVISIBLE, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
