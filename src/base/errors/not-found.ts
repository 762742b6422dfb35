// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from './service-error.js';

const MAX_SHOWN_CHARS = 200;
/** What becomes of a base address with a version where the client adds one, too. */
const TWO_VERSIONS = /^\/v[01]\/v[01](?:\/|$)/;

export function notFound(path: string): ServiceError {
  const hint = TWO_VERSIONS.test(path)
    ? 'The version stands in it twice: the base address already ends with one, and the client adds its own.'
    : '';
  return new ServiceError('NOT_FOUND', { path: path.slice(0, MAX_SHOWN_CHARS), hint });
}
