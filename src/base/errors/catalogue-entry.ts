// SPDX-License-Identifier: Apache-2.0

/** Machine-readable codes that clients see in `error` (docs/api.md#errors). */
export const errorCodes = [
  'validation_error',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'timeout',
  'payload_too_large',
  'unsupported_format',
  'rate_limited',
  'internal_error',
  'unavailable',
] as const;

/** Including the code for an AI-generated voice, whose body has its own format. */
export type PublicErrorCode = (typeof errorCodes)[number] | 'forbidden_error';

export interface CatalogueEntry {
  readonly status: number;
  readonly code: PublicErrorCode;
  /** `{name}` is replaced by the value with that name. */
  readonly message: string;
  /** The condition, for docs/errors.md. */
  readonly when: string;
  /** The S3 error code, for answers in S3's XML: see docs/files.md. */
  readonly s3Code?: string;
  /** Seconds for `Retry-After` if a retry can help; `known` if the thrower sets them. */
  readonly retryAfterS?: number | 'known';
}
