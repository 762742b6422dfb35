// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';

/** The headers of one part of a form. */
export interface PartHeaders {
  readonly name: string;
  /** Present, even if empty, when the sender calls the part a file. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
}

/** One parameter, whose quoted value may hold escapes. */
const ESCAPING = /[ \t]*;[ \t]*([!#$%&'*+.^_`|~\w-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^\r\n])*)"|([^;\s"]*))/y;
/** The same with the backslash as a character like any other. */
const LITERAL = /[ \t]*;[ \t]*([!#$%&'*+.^_`|~\w-]+)[ \t]*=[ \t]*(?:"([^"]*)"|([^;\s"]*))/y;
const MAX_BOUNDARY_CHARS = 70;

const malformed = (problem: string): ServiceError => new ServiceError('MULTIPART_MALFORMED', { problem });

/** RFC 5987: `charset'language'percent-encoded`. Undefined when it is not that. */
function decodeExtended(value: string): string | undefined {
  const match = /^(utf-8|iso-8859-1)'[^']*'(.*)$/i.exec(value);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  try {
    if (match[1].toLowerCase() === 'utf-8') return decodeURIComponent(match[2]);
    return match[2].replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  } catch {
    return undefined;
  }
}

/**
 * Browsers percent-encode exactly these three characters in names (the HTML standard, "multipart/form-data encoding
 * algorithm"); other clients escape with a backslash (RFC 2616). A lone backslash is part of the name.
 */
function decodeQuoted(value: string): string {
  if (!/[\\%]/.test(value)) return value;
  return value
    .replace(/\\(["\\])/g, '$1')
    .replace(/%22/g, '"')
    .replace(/%0d/gi, '\r')
    .replace(/%0a/gi, '\n');
}

/** The parameters of a header value, from `start` on; undefined when they break the grammar or one stands twice. */
function parseParameters(
  value: string,
  start: number,
  decode: (quoted: string) => string,
  grammar: RegExp,
): Map<string, string> | undefined {
  const parameters = new Map<string, string>();
  let position = start;
  while (position < value.length) {
    grammar.lastIndex = position;
    const match = grammar.exec(value);
    if (match?.[1] === undefined)
      return /^[ \t]*(?:;[ \t]*)?$/.test(value.slice(position)) ? parameters : undefined;
    const name = match[1].toLowerCase();
    if (parameters.has(name)) return undefined;
    parameters.set(name, match[2] === undefined ? (match[3] ?? '') : decode(match[2]));
    position = grammar.lastIndex;
  }
  return parameters;
}

function extendedOr(parameters: Map<string, string>, name: string): string | undefined {
  const extended = parameters.get(`${name}*`);
  return (extended === undefined ? undefined : decodeExtended(extended)) ?? parameters.get(name);
}

/** Browsers leave backslashes as they are, so that one may stand before the closing quote; it then escapes nothing. */
function dispositionParameters(disposition: string): Map<string, string> | undefined {
  const start = 'form-data'.length;
  return (
    parseParameters(disposition, start, decodeQuoted, ESCAPING) ??
    parseParameters(disposition, start, decodeQuoted, LITERAL)
  );
}

/**
 * @param block the header lines of a part, without the empty line
 * @throws ServiceError MULTIPART_MALFORMED
 */
export function parsePartHeaders(block: string): PartHeaders {
  let disposition: string | undefined;
  let contentType: string | undefined;
  for (const line of block.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    if (line === '') continue;
    const colon = line.indexOf(':');
    if (colon <= 0) throw malformed('a part has a header line without a name');
    const value = line.slice(colon + 1).trim();
    switch (line.slice(0, colon).toLowerCase()) {
      case 'content-disposition':
        if (disposition !== undefined) throw malformed('a part has more than one content-disposition');
        disposition = value;
        break;
      case 'content-type':
        contentType = value;
        break;
      case 'content-transfer-encoding':
        // RFC 7578, 4.7: not for use in forms. Taking encoded bytes for the file itself would be worse than refusing.
        if (!/^(7bit|8bit|binary)$/i.test(value)) throw malformed('a part has a content-transfer-encoding');
        break;
    }
  }
  const parameters = /^form-data[ \t]*(;|$)/i.test(disposition ?? '')
    ? dispositionParameters(disposition as string)
    : undefined;
  const name = parameters === undefined ? undefined : extendedOr(parameters, 'name');
  if (parameters === undefined || name === undefined) {
    throw malformed('a part has no valid content-disposition of form-data with a name');
  }
  return { name, filename: extendedOr(parameters, 'filename'), contentType };
}

/**
 * The boundary of a `multipart/form-data` content-type.
 * @throws ServiceError CONTENT_TYPE_INVALID for another type, MULTIPART_MALFORMED without a usable boundary
 */
export function boundaryOf(contentType: string): string {
  const type = /^[ \t]*multipart\/form-data[ \t]*(?=;|$)/i.exec(contentType);
  if (type === null) {
    const received = contentType === '' ? 'none' : contentType.slice(0, 100);
    throw new ServiceError('CONTENT_TYPE_INVALID', { expected: 'multipart/form-data', received });
  }
  const withoutEscapes = (value: string): string => value.replace(/\\([\s\S])/g, '$1');
  const boundary = parseParameters(contentType, type[0].length, withoutEscapes, ESCAPING)?.get('boundary');
  // RFC 2046, 5.1.1: 1 to 70 characters, the last no space. Any other printable ASCII is let through.
  if (boundary === undefined || boundary.length > MAX_BOUNDARY_CHARS || !/^[ -~]*[!-~]$/.test(boundary)) {
    throw malformed('the content-type has no valid boundary');
  }
  return boundary;
}
