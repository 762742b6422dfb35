// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import { escapeInvisible } from '../../base/errors/visible-text.js';

/** The deepest field of any route is an array in an object. */
export const MAX_JSON_DEPTH = 8;
/** Names and values together: 100 keys, and ample room for fields that are ignored. */
export const MAX_JSON_VALUES = 1000;
const MAX_SHOWN_CHARS = 100;

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

/** @param text a name, and spaces behind it @throws ServiceError JSON_MALFORMED for the second of a name: programs differ in which one counts */
function addName(names: Set<string> | undefined, text: Uint8Array): void {
  let name: unknown;
  try {
    name = JSON.parse(Buffer.from(text).toString());
  } catch {
    return;
  }
  if (names === undefined || typeof name !== 'string') return;
  if (names.has(name)) {
    const shown = escapeInvisible(JSON.stringify(name.slice(0, MAX_SHOWN_CHARS)));
    throw new ServiceError('JSON_MALFORMED', { problem: `it has the name ${shown} twice.` });
  }
  names.add(name);
}

/**
 * Counts before anything is built of the text. Whether it is JSON at all is for the parser to say.
 * @param text in UTF-8
 * @throws ServiceError JSON_LIMIT; JSON_MALFORMED for a repeated name
 */
export function checkJsonLimits(text: Uint8Array): void {
  /** Of each open bracket. */
  const names: Set<string>[] = [];
  let values = 1;
  /** The begin of the last string, until it has named something: colons in a row would read a long one again and again. */
  let nameAt: number | undefined;
  const count = (): void => {
    if (++values > MAX_JSON_VALUES) {
      throw new ServiceError('JSON_LIMIT', { problem: `more than ${MAX_JSON_VALUES} names and values` });
    }
  };
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case QUOTE:
        nameAt = at;
        at = endOfString(text, at);
        break;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        if (names.push(new Set()) > MAX_JSON_DEPTH) {
          throw new ServiceError('JSON_LIMIT', { problem: `nested more than ${MAX_JSON_DEPTH} deep` });
        }
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        names.pop();
        break;
      case COLON:
        if (nameAt !== undefined) addName(names.at(-1), text.subarray(nameAt, at));
        nameAt = undefined;
        count();
        break;
      case COMMA:
        count();
    }
  }
}
