// SPDX-License-Identifier: Apache-2.0

/**
 * The text with the replacement character for everything that has no shape, or changes that of others, as the server
 * has it. Joiners stay: Persian words and joined emoji need them.
 */
export const printable = (text: string): string =>
  text.replace(
    /(?!\p{Join_Control}|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    '\u{fffd}',
  );
