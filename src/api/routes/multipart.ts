// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { EmbeddedStorage } from '../../state/storage/embedded-storage.js';
import type { ListedPart } from '../../state/storage/multipart-uploads.js';
import { BUCKET } from '../../state/storage/signature.js';
import { refuseParameters, unsupported } from '../../state/storage/signature-check.js';
import type { Reply, RouteRequest } from './route.js';
import { accountIn, nameOf, receiveXml } from './s3-requests.js';
import { elementsOf, escaped, s3Document, textOf } from './s3-xml.js';

/** Begins an upload in parts, or makes an object of them. */
export function multipartStarterAndEnder(config: Config, storage: EmbeddedStorage) {
  return async (request: RouteRequest): Promise<Reply> => {
    const { grant, xml, ofObject } = await receiveXml(request, storage, config);
    const name = nameOf(request);
    request.holdFor(accountIn(name));
    const place = `<Bucket>${BUCKET}</Bucket><Key>${escaped(name)}</Key>`;
    const { uploads, uploadId, ...others } = Object.fromEntries(grant.parameters);
    refuseParameters(new Map(Object.entries(others)));
    if (uploadId !== undefined) {
      if (ofObject.some(({ stated }) => /-\d+$/.test(stated() ?? '')))
        throw unsupported('a checksum of the checksums of parts');
      const md5 = await storage.multipart.complete(name, uploadId, partsIn(xml), {
        maxBytes: config.maxObjectBytes,
        bytes: request.headers.get('x-amz-mp-object-size'),
        checksums: ofObject,
      });
      return s3Document('CompleteMultipartUploadResult', `${place}<ETag>"${md5}"</ETag>`);
    }
    if (uploads === undefined) throw unsupported('POST without uploads or uploadId');
    const id = await storage.multipart.begin(name);
    return s3Document('InitiateMultipartUploadResult', `${place}<UploadId>${id}</UploadId>`);
  };
}

/** @throws ServiceError OBJECT_XML_INVALID */
function partsIn(xml: string): ListedPart[] {
  const parts = elementsOf(xml, 'Part').map((part) => ({
    number: Number(textOf(part, 'PartNumber')),
    md5: (textOf(part, 'ETag') ?? '').replaceAll('"', ''),
  }));
  if (parts.length === 0 || !parts.every(({ number }) => Number.isSafeInteger(number))) {
    throw new ServiceError('OBJECT_XML_INVALID', { expected: 'a list of parts with PartNumber and ETag' });
  }
  return parts;
}
