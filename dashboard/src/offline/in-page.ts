// SPDX-License-Identifier: Apache-2.0

/** Puts a value into the page as JSON that ends no element and has no character that turns or hides others. */
export const jsonInPage = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[<\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
