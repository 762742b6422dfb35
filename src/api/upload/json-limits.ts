// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';

/** The deepest field of any route is an array in an object. */
export const MAX_JSON_DEPTH = 8;
/** Names and values together: 100 keys, and ample room for fields that are ignored. */
export const MAX_JSON_VALUES = 1000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The end of the string that begins at `start`. */
function endOfString(text: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
  return at;
}

/**
 * Counts before anything is built of the text. Whether it is JSON at all is for the parser to say.
 * @param text in UTF-8
 * @throws ServiceError JSON_LIMIT
 */
export function checkJsonLimits(text: Uint8Array): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        if (++depth > MAX_JSON_DEPTH) {
          throw new ServiceError('JSON_LIMIT', { problem: `nested more than ${MAX_JSON_DEPTH} deep` });
        }
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        depth--;
        break;
      case COMMA:
      case COLON:
        if (++values > MAX_JSON_VALUES) {
          throw new ServiceError('JSON_LIMIT', { problem: `more than ${MAX_JSON_VALUES} names and values` });
        }
    }
  }
}
