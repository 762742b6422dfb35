// SPDX-License-Identifier: Apache-2.0

import { nearest } from '../../base/config/nearest.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { escapeInvisible } from '../../base/errors/visible-text.js';
import type { RouteRequest } from './route.js';

/** More would make the answer longer than it helps. */
const MAX_NAMED = 10;
const MAX_SHOWN_CHARS = 100;

const shown = (name: string): string => escapeInvisible(name.slice(0, MAX_SHOWN_CHARS));

/**
 * A sentence for each field and query parameter that has no effect on an analysis.
 * @throws ServiceError FIELD_UNKNOWN if the client wants that refused
 */
export function ignoredFields(
  { query, isStrict }: Pick<RouteRequest, 'query' | 'isStrict'>,
  given: Iterable<string>,
  known: readonly string[],
): readonly string[] {
  const fields = [...new Set(given)].filter((name) => !known.includes(name));
  const parameters = [...new Set(new URLSearchParams(query).keys())];
  const sentences = [
    ...fields.slice(0, MAX_NAMED).map((name) => {
      const meant = nearest(name.slice(0, MAX_SHOWN_CHARS).toLowerCase(), known);
      const suggestion = meant === undefined ? '' : ` Did you mean ${meant}?`;
      return `The field ${shown(name)} has no effect here.${suggestion}`;
    }),
    ...parameters.slice(0, MAX_NAMED).map((name) => {
      const meant = nearest(name.slice(0, MAX_SHOWN_CHARS).toLowerCase(), known);
      const way = meant === undefined ? '' : ` Send ${meant} in the body.`;
      return `The query parameter ${shown(name)} has no effect here.${way}`;
    }),
  ];
  const [first] = sentences;
  if (isStrict && first !== undefined) throw new ServiceError('FIELD_UNKNOWN', { problem: first });
  return sentences;
}
