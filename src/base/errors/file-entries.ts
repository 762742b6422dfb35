// SPDX-License-Identifier: Apache-2.0
import type { CatalogueEntry } from './catalogue-entry.js';

/** Errors of files behind links and of the storage. */
export const fileEntries = {
  // The file behind a link
  FETCH_HOST_REFUSED: {
    status: 400,
    code: 'validation_error',
    message:
      'Expected a link to the configured storage or an allowed host for presigned_url but received one to {origin}.',
    when: 'The link has another scheme, host or port. The server resolved and sent nothing.',
  },
  FETCH_ADDRESS_REFUSED: {
    status: 400,
    code: 'validation_error',
    message:
      'Expected a host with only public addresses for presigned_url but received {host}. The operator can allow private hosts with VERAVOX_FETCH_PRIVATE_HOSTS.',
    when: 'An allowed host resolves to a private, loopback, link-local or other special address that `VERAVOX_FETCH_PRIVATE_HOSTS` does not have. The server sent nothing to it.',
  },
  FETCH_STATUS_REFUSED: {
    status: 400,
    code: 'validation_error',
    message: 'The storage refused the presigned_url with status {status}.',
    when: 'The storage answers with a 4xx status: the link expired or was altered, or the object does not exist.',
  },
  FETCH_REDIRECTED: {
    status: 400,
    code: 'validation_error',
    message:
      'The storage answered the presigned_url with a redirect, status {status}; redirects are not followed.',
    when: 'The storage answers with a 3xx status, whatever its target.',
  },
  FETCH_ENCODED: {
    status: 400,
    code: 'validation_error',
    message: 'Expected the file behind presigned_url without a content-encoding but received {encoding}.',
    when: 'The storage sends the file compressed, although the request excludes that.',
  },
  FETCH_NO_RANGES: {
    status: 400,
    code: 'validation_error',
    message: 'The storage behind presigned_url does not support range requests, which long recordings need.',
    when: 'The storage ignores the `range` header, or answers with another range.',
  },
  FILE_CHANGED: {
    status: 400,
    code: 'validation_error',
    message: 'The file changed while it was read.',
    when: 'A long recording or a manifest was replaced or altered in the storage before it was read to its end.',
  },
  // Stored files and their links
  ACCESS_DENIED: {
    status: 403,
    code: 'forbidden',
    s3Code: 'AccessDenied',
    message: 'Access denied: {problem}',
    when: 'The link has no signature, or one that cannot be checked.',
  },
  ACCESS_KEY_UNKNOWN: {
    status: 403,
    code: 'forbidden',
    s3Code: 'InvalidAccessKeyId',
    message: 'The access key id does not belong to this storage.',
    when: 'The link was signed with the credentials of another storage.',
  },
  LINK_EXPIRED: {
    status: 403,
    code: 'forbidden',
    s3Code: 'AccessDenied',
    message: 'Request has expired: the link was valid until {expiresAt}.',
    when: 'The link has expired.',
  },
  CLOCKS_DIFFER: {
    status: 403,
    code: 'forbidden',
    s3Code: 'RequestTimeTooSkewed',
    message: "The request was signed at {signedAt}, more than 15 minutes from the server's time.",
    when: 'The clock of an S3 program or of the server is wrong.',
  },
  SIGNATURE_MISMATCH: {
    status: 403,
    code: 'forbidden',
    s3Code: 'SignatureDoesNotMatch',
    message:
      'The signature does not match the request: the method, host, path or a parameter was not signed this way.',
    when: 'The link was changed, or a proxy does not forward the host header.',
  },
  OBJECT_NOT_FOUND: {
    status: 404,
    code: 'not_found',
    s3Code: 'NoSuchKey',
    message: 'The object does not exist.',
    when: 'The file was never uploaded, or was deleted.',
  },
  OBJECT_TOO_LARGE: {
    status: 413,
    code: 'payload_too_large',
    s3Code: 'EntityTooLarge',
    message: 'The object exceeds the limit of {allowedBytes} bytes.',
    when: 'An upload through a link exceeds the size limit; sent as soon as this is known.',
  },
  ACCOUNT_QUOTA_EXCEEDED: {
    status: 413,
    code: 'payload_too_large',
    s3Code: 'QuotaExceeded',
    message:
      "This upload would exceed the account's limit of {limit}. Delete files that are no longer needed.",
    when: 'An upload into the data folder would take the account over `VERAVOX_ACCOUNT_MAX_BYTES` or `VERAVOX_ACCOUNT_MAX_OBJECTS`; sent as soon as this is known.',
  },
  OBJECT_DIGEST_MISMATCH: {
    status: 400,
    code: 'validation_error',
    s3Code: 'BadDigest',
    message: 'The content does not match the checksum in {header}.',
    when: 'The upload was damaged in transit: its MD5 or the checksum in an `x-amz-checksum-*` header differs. Nothing is stored.',
  },
  OBJECT_HASH_MISMATCH: {
    status: 400,
    code: 'validation_error',
    s3Code: 'XAmzContentSHA256Mismatch',
    message: 'The content does not match the SHA-256 in x-amz-content-sha256.',
    when: 'The upload was damaged in transit, or is not the content that was signed. Nothing is stored.',
  },
  OBJECT_CHUNKS_INVALID: {
    status: 400,
    code: 'validation_error',
    s3Code: 'IncompleteBody',
    message: 'The aws-chunked body is malformed: {problem}.',
    when: 'An upload of an S3 program as `aws-chunked` breaks off, does not have the declared length, or lacks a trailer. Nothing is stored.',
  },
  OBJECT_OTHER_ETAG: {
    status: 412,
    code: 'validation_error',
    s3Code: 'PreconditionFailed',
    message: 'The object does not meet the condition in {header}.',
    when: 'The headers of the request ask for another version of the file, for example because it was replaced while a program read or copied it in parts.',
  },
  OBJECT_PART_INVALID: {
    status: 400,
    code: 'validation_error',
    s3Code: 'InvalidPart',
    message: 'Part {number} was not uploaded with this ETag, or the parts are not in ascending order.',
    when: 'The request that completes a multipart upload lists a missing part.',
  },
  OBJECT_UPLOAD_NOT_FOUND: {
    status: 404,
    code: 'not_found',
    s3Code: 'NoSuchUpload',
    message:
      'The upload does not exist: it was completed or aborted, or has been idle for a day, or the server has restarted.',
    when: 'The request names a multipart upload that was completed, aborted or removed.',
  },
  OBJECT_XML_INVALID: {
    status: 400,
    code: 'validation_error',
    s3Code: 'MalformedXML',
    message: 'Expected {expected} as XML.',
    when: 'The body does not fit the S3 operation.',
  },
  OBJECT_ARGUMENT_INVALID: {
    status: 400,
    code: 'validation_error',
    s3Code: 'InvalidArgument',
    message: 'Expected {expected} but received {received}.',
    when: 'A parameter or header of an S3 program is not valid in S3, or contradicts another.',
  },
  OBJECT_REQUEST_UNSUPPORTED: {
    status: 501,
    code: 'validation_error',
    s3Code: 'NotImplemented',
    message: 'The embedded storage does not support {what}.',
    when: 'The request is an S3 operation that the embedded storage lacks: see docs/files.md.',
  },
  OBJECT_RANGE_INVALID: {
    status: 416,
    code: 'validation_error',
    s3Code: 'InvalidRange',
    message: 'The range {range} is outside the object of {bytes} bytes.',
    when: 'The `range` header covers no byte of the object.',
  },
  STORAGE_FULL: {
    status: 503,
    code: 'unavailable',
    s3Code: 'ServiceUnavailable',
    message: 'The storage is full; retry after {retryAfterS} s.',
    when: 'The disk of the data folder is full, or the upload would use the space reserved by `VERAVOX_DISK_RESERVE_BYTES`. Nothing is stored.',
    retryAfterS: 60,
  },
  STORAGE_FAILED: {
    status: 500,
    code: 'internal_error',
    s3Code: 'InternalError',
    message: 'The storage failed to read or write the object.',
    when: 'The disk of the data folder failed; the log has the cause.',
  },
  STORAGE_UNAVAILABLE: {
    status: 503,
    code: 'unavailable',
    message: 'The object storage cannot be reached; retry after {retryAfterS} s.',
    when: "The configured S3 service does not answer, or refuses the server's credentials; the log has the cause.",
    retryAfterS: 5,
  },
} as const satisfies Record<string, CatalogueEntry>;
