// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import type { BodyStream } from './body-stream.js';

/** @throws ServiceError CONTENT_ENCODING_UNSUPPORTED */
export function refuseEncoded({ contentEncoding = '' }: BodyStream): void {
  if (/^(identity)?$/i.test(contentEncoding)) return;
  throw new ServiceError('CONTENT_ENCODING_UNSUPPORTED', { received: contentEncoding.slice(0, 100) });
}
