// SPDX-License-Identifier: Apache-2.0
import { type CatalogueEntry, catalogue } from '../../src/base/errors/catalogue.js';

/** `docs/errors.md`. */
export function errorReferencePage(): string {
  const rows = Object.entries<CatalogueEntry>(catalogue).map(
    ([key, { status, code, message, when, retryAfterS, s3Code }]) => {
      const retry = retryAfterS === undefined ? '' : retryAfterS === 'known' ? 'varies' : `${retryAfterS} s`;
      return `| \`${key}\` | ${status} | \`${code}\` | ${message} | ${when} | ${retry} | ${s3Code ?? ''} |`;
    },
  );
  return [
    '# Errors',
    '',
    'Every error but one has this body; `correlation_id` is also in the header `x-correlation-id` and in the log.',
    '',
    '```json',
    '{"error": "validation_error", "message": "...", "status": 400, "correlation_id": "a1b2c3d4-e5f6-7890-abcd-ef1234567890"}',
    '```',
    '',
    'The exception is `AI_GENERATED_VOICE`, whose body is:',
    '',
    '```json',
    '{"statusCode": 403, "message": {"detail": "...", "type": "forbidden_error", "correlation_id": "...", "timestamp": "2026-11-21T12:00:00.000Z"}}',
    '```',
    '',
    'A key names one line of this page. Every error carries it in the header `x-error-key`; the log and the metric',
    '`veravox_errors_total` also use it. It is more precise than `error` in the body.',
    '',
    'Links to the data folder ([files.md](files.md)) answer in the XML of S3 instead if the last column has a code.',
    '',
    '| Key | Status | `error` | Message | When | `Retry-After` | S3 |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
    'Three answers come from the HTTP parser and lack this body: 400 for headers that are not HTTP, 431 for headers that are too',
    'large, 505 for versions other than HTTP/1.1.',
    '',
    '`npm run docs` makes this page from `src/base/errors/catalogue.ts`.',
    '',
  ].join('\n');
}
