// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import {
  type ChecksumAlgorithm,
  type ExpectedChecksum,
  isChecksumAlgorithm,
} from '../../state/storage/checksums.js';
import { PAYLOAD_HEADER } from '../../state/storage/signature.js';
import type { Grant } from '../../state/storage/signature-check.js';

/** The others with this beginning say which checksum is meant or wanted. */
const CHECKSUM_HEADER = /^x-amz-checksum-(?!algorithm$|mode$|type$)(.*)$/;

/** @throws ServiceError OBJECT_REQUEST_UNSUPPORTED */
function algorithmOf(header: string): ChecksumAlgorithm | undefined {
  if (header === 'content-md5') return 'md5';
  const algorithm = CHECKSUM_HEADER.exec(header)?.[1];
  if (algorithm === undefined || isChecksumAlgorithm(algorithm)) return algorithm;
  throw new ServiceError('OBJECT_REQUEST_UNSUPPORTED', { what: `the header ${header.slice(0, 50)}` });
}

/**
 * The checksums of an upload's content in its headers and trailers. A checksum in a link's query means nothing, as in S3: SDKs
 * put that of an empty body there.
 * @throws ServiceError OBJECT_REQUEST_UNSUPPORTED
 */
export function expectedChecksums(
  headers: ReadonlyMap<string, string>,
  { bodySha256, chunks }: Grant,
): readonly ExpectedChecksum[] {
  const checksums: ExpectedChecksum[] = [];
  const add = (header: string, stated: ExpectedChecksum['stated']): void => {
    const algorithm = algorithmOf(header);
    if (algorithm !== undefined) checksums.push({ algorithm, header, stated });
  };
  for (const [header, value] of headers) add(header, () => value);
  for (const header of chunks?.trailerNames ?? []) add(header, () => chunks?.trailer(header));
  if (bodySha256 === undefined) return checksums;
  const stated = Buffer.from(bodySha256, 'hex').toString('base64');
  return [...checksums, { algorithm: 'sha256', header: PAYLOAD_HEADER, stated: () => stated }];
}
