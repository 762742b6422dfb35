// SPDX-License-Identifier: Apache-2.0
import { nearest } from '../../base/config/nearest.js';
import type { Operation } from '../../base/contract/operation.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { escapeInvisible } from '../../base/errors/visible-text.js';

/** More would make the answer longer than it helps. */
const MAX_NAMED = 10;
const MAX_SHOWN_CHARS = 100;
/** nginx has 4 KiB for the head of an answer, and answers 502 if that is longer. */
const MAX_HEADER_CHARS = 2000;

/** The notes of one request. */
export interface Notes {
  /** `prefer: handling=strict` (RFC 7240), or a deletion: fields without effect are refused. */
  readonly isStrict: boolean;
  /** Sentences about fields and query parameters without effect, which the answer repeats. */
  readonly ignored: string[];
}

const shown = (name: string): string =>
  name === '' ? '""' : escapeInvisible(name.slice(0, MAX_SHOWN_CHARS));

const nearestTo = (name: string, known: readonly string[]): string | undefined =>
  nearest(name.slice(0, MAX_SHOWN_CHARS).toLowerCase(), known);

/** @throws ServiceError FIELD_UNKNOWN if the client wants that refused */
function note(
  { isStrict, ignored }: Notes,
  given: Iterable<string>,
  known: readonly string[],
  sentenceOn: (name: string) => string,
): void {
  const names = [...new Set(given)].filter((name) => !known.includes(name));
  const sentences = names.slice(0, MAX_NAMED).map(sentenceOn);
  const [first] = sentences;
  if (isStrict && first !== undefined) throw new ServiceError('FIELD_UNKNOWN', { problem: first });
  ignored.push(...sentences);
}

const meant = (name: string | undefined): string => (name === undefined ? '' : ` Did you mean ${name}?`);

/**
 * Notes a sentence for each field of a body that has no effect.
 * @throws ServiceError FIELD_UNKNOWN if the client wants that refused
 */
export function noteFields(request: Notes, given: Iterable<string>, known: readonly string[]): void {
  note(
    request,
    given,
    known,
    (name) => `The field ${shown(name)} has no effect here.${meant(nearestTo(name, known))}`,
  );
}

/** @throws ServiceError FIELD_INVALID for the first parameter whose percent-encoding is no UTF-8: read leniently, it would name something else */
function refuseDamagedEncoding(query: string): void {
  for (const pair of query.split('&')) {
    try {
      decodeURIComponent(pair);
    } catch {
      const [name = ''] = pair.split('=', 1);
      throw new ServiceError('FIELD_INVALID', {
        field: `the query parameter ${shown(name)}`,
        expected: 'UTF-8 with % as %25',
        received: JSON.stringify(shown(pair.slice(name.length + 1))),
      });
    }
  }
}

/**
 * The same of a query.
 * @throws ServiceError FIELD_INVALID for damaged encoding, FIELD_UNKNOWN if the client wants that refused
 */
export function noteParameters(
  request: Notes & { readonly query: string },
  { query, form, json }: Pick<Operation, 'query' | 'form' | 'json'>,
): void {
  if (request.query === '') return;
  refuseDamagedEncoding(request.query);
  const known = Object.keys(query?.schemas ?? {});
  const inBody = Object.keys({ ...form?.schemas, ...json?.schemas });
  note(request, new URLSearchParams(request.query).keys(), known, (name) => {
    const field = nearestTo(name, inBody);
    const way = field === undefined ? meant(nearestTo(name, known)) : ` Send ${field} in the body.`;
    return `The query parameter ${shown(name)} has no effect here.${way}`;
  });
}

/** The sentences as a JSON array in ASCII, since a header has nothing else; as many as a head has room for. */
export function warningsHeader(ignored: readonly string[]): string {
  const texts = ignored.map((sentence) =>
    JSON.stringify(sentence).replace(
      /[^ -~]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
  while (texts.join().length > MAX_HEADER_CHARS) texts.pop();
  return `[${texts.join()}]`;
}
