// SPDX-License-Identifier: Apache-2.0
import { type CatalogueEntry, catalogue } from '../../base/errors/catalogue.js';
import type { ServiceError } from '../../base/errors/service-error.js';
import type { Reply } from './route.js';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** As text between tags. */
export const escaped = (text: string): string => text.replace(/[&<>]/g, (c) => escapes[c] ?? c);

/** The XML that S3 programs understand; undefined for a failure that S3 has no name for. */
export function s3Refusal(failure: ServiceError, correlationId: string): Reply | undefined {
  const { s3Code }: CatalogueEntry = catalogue[failure.key];
  if (s3Code === undefined) return undefined;
  const message = escaped(failure.message);
  return {
    status: failure.status,
    contentType: 'application/xml',
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${s3Code}</Code><Message>${message}</Message><RequestId>${correlationId}</RequestId></Error>`,
  };
}
