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

/** With that of the refusal of an AI-generated voice, which has a body of its own. */
export type PublicErrorCode = (typeof errorCodes)[number] | 'forbidden_error';

export interface CatalogueEntry {
  readonly status: number;
  readonly code: PublicErrorCode;
  /** The sentence; `{name}` is replaced by the value of that name. */
  readonly message: string;
  /** When it happens, for the reference page. */
  readonly when: string;
  /** S3's name for it, where the answer is S3's XML: see docs/files.md. */
  readonly s3Code?: string;
  /** Seconds for `Retry-After` if a retry can help; `known` if the thrower sets them. */
  readonly retryAfterS?: number | 'known';
}
