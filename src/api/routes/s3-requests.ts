// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { ContentChecksums, type ExpectedChecksum } from '../../state/storage/checksums.js';
import { type EmbeddedStorage, nameInPath } from '../../state/storage/embedded-storage.js';
import { BUCKET } from '../../state/storage/signature.js';
import type { Grant } from '../../state/storage/signature-check.js';
import { receiveWhole } from '../upload/whole-body.js';
import { expectedChecksums } from './expected-checksums.js';
import type { RouteRequest } from './route.js';

/** The path of all objects. Programs ask for the bucket with and without the slash. */
export const BUCKET_PREFIX = `/${BUCKET}/`;
/** Room for 10,000 parts with a checksum each, or 1,000 long keys. */
const MAX_XML_BYTES = 4 << 20;

export const nameOf = ({ path }: Pick<RouteRequest, 'path'>): string => nameInPath(path);

/** The folder that stands for the account in the name of an object. */
export const accountIn = (name: string): string => name.slice(0, name.indexOf('/'));

/**
 * Programs that read an object in parts want all of them from the same one.
 * @throws ServiceError OBJECT_OTHER_ETAG
 */
export function refuseOtherEtag(headers: ReadonlyMap<string, string>, header: string, md5: string): void {
  if (!hasEtag(headers.get(header) ?? '*', md5)) throw new ServiceError('OBJECT_OTHER_ETAG', { header });
}

/** @param etags as in headers, with or without quotes */
export const hasEtag = (etags: string, md5: string): boolean =>
  etags.split(',').some((etag) => ['*', md5].includes(etag.trim().replaceAll('"', '')));

export interface ReceivedXml {
  readonly grant: Grant;
  readonly xml: string;
  /** Checksums of the whole object, from the end of an upload in parts. */
  readonly ofObject: readonly ExpectedChecksum[];
}

/**
 * The XML that a signed request sends. Call it before the request's handler first awaits.
 * @throws ServiceError as SignatureCheck.checkAny and receiveWhole do, OBJECT_CHUNKS_INVALID, OBJECT_DIGEST_MISMATCH,
 *   OBJECT_HASH_MISMATCH
 */
export async function receiveXml(
  request: RouteRequest,
  storage: EmbeddedStorage,
  { receiveTimeoutMs }: Config,
): Promise<ReceivedXml> {
  request.holdBody();
  const grant = await storage.signatures.checkAny(request);
  const stated = expectedChecksums(request.headers, grant);
  const isOfObject = ({ header }: ExpectedChecksum): boolean =>
    grant.parameters.has('uploadId') && header.startsWith('x-amz-checksum-') && request.headers.has(header);
  const checksums = new ContentChecksums(stated.filter((each) => !isOfObject(each)));
  const bytes = await receiveWhole(request.body, { maxBytes: MAX_XML_BYTES, receiveTimeoutMs });
  const content = grant.chunks?.decode(bytes) ?? bytes;
  grant.chunks?.end();
  checksums.update(content);
  checksums.end();
  const xml = Buffer.from(content.buffer, content.byteOffset, content.length).toString();
  return { grant, xml, ofObject: stated.filter(isOfObject) };
}
