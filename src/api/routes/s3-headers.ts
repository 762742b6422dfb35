// SPDX-License-Identifier: Apache-2.0
import { unsupported } from '../../state/storage/signature-check.js';
import type { RouteRequest } from './route.js';

/** A request with one of these is refused, since its wish would not be fulfilled. */
const OTHER_HEADER =
  /^x-amz-(tagging|grant-.*|copy-source-if-(?!match$).*|(copy-source-)?server-side-encryption.*|object-lock-.*|bypass-governance-retention|mfa|(source-)?expected-bucket-owner|if-match-.*|website-redirect-location|write-offset-bytes)$/;
/** The same of requests that change something. The part of a file that `content-range` announces would replace all of it. */
const OTHER_HEADER_OF_CHANGE = /^(if-match|if-none-match|if-unmodified-since|content-range)$/;

/** @throws ServiceError OBJECT_REQUEST_UNSUPPORTED for a header whose wish would not be fulfilled */
export function refuseHeaders({ method, headers, contentType }: RouteRequest): void {
  const isChange = method !== 'GET' && method !== 'HEAD';
  for (const name of headers.keys()) {
    if (OTHER_HEADER.test(name) || (isChange && OTHER_HEADER_OF_CHANGE.test(name)))
      throw unsupported(`the header ${name.slice(0, 50)}`);
  }
  const refuseOthers = (header: string, what: string, served: readonly string[]): void => {
    const value = headers.get(header) ?? '';
    if (value !== '' && !served.includes(value)) throw unsupported(`${what} ${value.slice(0, 50)}`);
  };
  refuseOthers('x-amz-acl', 'the ACL', ['private', 'bucket-owner-full-control']);
  refuseOthers('x-amz-storage-class', 'the storage class', ['STANDARD']);
  if (!isChange) return;
  for (const coding of (headers.get('content-encoding') ?? '').toLowerCase().split(/[\s,]+/)) {
    if (!['', 'identity', 'aws-chunked'].includes(coding))
      throw unsupported(`the content-encoding ${coding.slice(0, 50)}`);
  }
  // Their signature is in the body.
  if (method === 'POST' && /^multipart\/form-data/i.test(contentType)) throw unsupported('forms');
}
