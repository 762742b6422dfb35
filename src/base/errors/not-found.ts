// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from './service-error.js';

const MAX_SHOWN_CHARS = 200;
/** A base address that ends with a version, and a client that adds one. */
const TWO_VERSIONS = /^\/v[01]\/v[01](?:\/|$)/;

export function notFound(path: string): ServiceError {
  const hint = TWO_VERSIONS.test(path)
    ? 'The path contains two versions: the base address already ends with one, and the client adds another.'
    : '';
  return new ServiceError('NOT_FOUND', { path: path.slice(0, MAX_SHOWN_CHARS), hint });
}
