// SPDX-License-Identifier: Apache-2.0
import { type CatalogueEntry, catalogue } from '../../base/errors/catalogue.js';
import type { ServiceError } from '../../base/errors/service-error.js';
import { RangeRefused } from './byte-range.js';
import type { Reply } from './route.js';
import { escaped, xmlReply } from './s3-xml.js';

/** The XML that S3 programs understand; undefined for a failure that S3 has no name for. */
export function s3Refusal(
  failure: ServiceError,
  correlationId: string,
  requestHeaders: ReadonlyMap<string, string>,
): Reply | undefined {
  const { s3Code }: CatalogueEntry = catalogue[failure.key];
  if (s3Code === undefined) return undefined;
  const message = escaped(failure.message);
  const content = `<Code>${s3Code}</Code><Message>${message}</Message><RequestId>${correlationId}</RequestId>`;
  // That of a copy is about another object than the request's.
  const isOfRange = failure instanceof RangeRefused && requestHeaders.has('range');
  return {
    ...xmlReply(`<Error>${content}</Error>`),
    status: failure.status,
    ...(isOfRange && { headers: [['content-range', `bytes */${failure.bytes}`]] }),
  };
}
