// SPDX-License-Identifier: Apache-2.0
import type { CatalogueEntry } from './catalogue-entry.js';

/** Of files behind links, and of the storage. */
export const fileEntries = {
  // The file behind a link
  FETCH_HOST_REFUSED: {
    status: 400,
    code: 'validation_error',
    message:
      'Expected an object of the configured storage or an allowed host for presigned_url but received a link to {origin}.',
    when: 'A link to another scheme, host or port; nothing was resolved or sent.',
  },
  FETCH_ADDRESS_REFUSED: {
    status: 400,
    code: 'validation_error',
    message: 'Expected a host with public addresses only for presigned_url but received {host}.',
    when: 'An allowed host that resolves to a private, loopback, link-local or other special address; nothing was sent to it.',
  },
  FETCH_STATUS_REFUSED: {
    status: 400,
    code: 'validation_error',
    message: 'The storage refused the presigned_url with status {status}.',
    when: 'A status of 4xx from the storage: the link has expired or was altered, or there is no such object.',
  },
  FETCH_REDIRECTED: {
    status: 400,
    code: 'validation_error',
    message: 'The storage answered the presigned_url with a redirect, status {status}; none is followed.',
    when: 'A status of 3xx from the storage, wherever it leads.',
  },
  FETCH_ENCODED: {
    status: 400,
    code: 'validation_error',
    message: 'Expected no content-encoding of the file behind presigned_url but received {encoding}.',
    when: 'The storage sends the file compressed, though it was asked not to.',
  },
  // Stored files and their links
  ACCESS_DENIED: {
    status: 403,
    code: 'forbidden',
    s3Code: 'AccessDenied',
    message: 'Access denied: {problem}',
    when: 'A link without a signature, or with one that cannot be checked.',
  },
  ACCESS_KEY_UNKNOWN: {
    status: 403,
    code: 'forbidden',
    s3Code: 'InvalidAccessKeyId',
    message: 'The access key id is not one of this storage.',
    when: 'A link that was signed with the credentials of another storage.',
  },
  LINK_EXPIRED: {
    status: 403,
    code: 'forbidden',
    s3Code: 'AccessDenied',
    message: 'Request has expired: the link was valid until {expiresAt}.',
    when: 'A link after its lifetime.',
  },
  SIGNATURE_MISMATCH: {
    status: 403,
    code: 'forbidden',
    s3Code: 'SignatureDoesNotMatch',
    message:
      'The signature does not match the request: method, host, path or a parameter differ from what was signed.',
    when: 'A link of which anything was changed, or a proxy that does not pass the host header on.',
  },
  OBJECT_NOT_FOUND: {
    status: 404,
    code: 'not_found',
    s3Code: 'NoSuchKey',
    message: 'There is no such object.',
    when: 'A link to a file that was never uploaded, or was removed.',
  },
  OBJECT_TOO_LARGE: {
    status: 413,
    code: 'payload_too_large',
    s3Code: 'EntityTooLarge',
    message: 'The object is larger than the allowed {allowedBytes} bytes.',
    when: 'An upload through a link over the limit; sent as soon as that is known.',
  },
  ACCOUNT_QUOTA_EXCEEDED: {
    status: 413,
    code: 'payload_too_large',
    s3Code: 'QuotaExceeded',
    message:
      'The account may store {limit}, and this upload would exceed that. Delete files that are no longer needed.',
    when: 'An upload into the data folder by an account that is at `VERAVOX_ACCOUNT_MAX_BYTES` or `VERAVOX_ACCOUNT_MAX_OBJECTS`; sent as soon as that is known.',
  },
  OBJECT_DIGEST_MISMATCH: {
    status: 400,
    code: 'validation_error',
    s3Code: 'BadDigest',
    message: 'The content does not have the MD5 or SHA-256 that the request states.',
    when: 'An upload that was damaged on its way; nothing is stored.',
  },
  OBJECT_REQUEST_UNSUPPORTED: {
    status: 400,
    code: 'validation_error',
    s3Code: 'NotImplemented',
    message: 'The embedded storage does not support {what}.',
    when: 'An S3 operation other than storing and fetching one object.',
  },
  OBJECT_RANGE_INVALID: {
    status: 416,
    code: 'validation_error',
    s3Code: 'InvalidRange',
    message: 'The range {range} is outside the object of {bytes} bytes.',
    when: 'A `range` header that no byte of the object satisfies.',
  },
  STORAGE_FULL: {
    status: 503,
    code: 'unavailable',
    s3Code: 'ServiceUnavailable',
    message: 'The storage has no room for the object; retry after {retryAfterS} s.',
    when: 'The disk under the data folder is full, or the upload would touch `VERAVOX_DISK_RESERVE_BYTES`. Nothing is stored.',
    retryAfterS: 60,
  },
  STORAGE_FAILED: {
    status: 500,
    code: 'internal_error',
    s3Code: 'InternalError',
    message: 'The storage failed to read or write the object.',
    when: 'The disk under the data folder fails; the log has the cause.',
  },
  STORAGE_UNAVAILABLE: {
    status: 503,
    code: 'unavailable',
    message: 'The object storage cannot be reached; retry after {retryAfterS} s.',
    when: 'The configured S3 service does not answer, or refuses our credentials; the log has the cause.',
    retryAfterS: 5,
  },
} as const satisfies Record<string, CatalogueEntry>;
