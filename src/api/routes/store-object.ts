// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { copyInto } from '../../state/storage/disk-objects.js';
import type { EmbeddedStorage } from '../../state/storage/embedded-storage.js';
import type { LinkOwner } from '../../state/storage/link-owner.js';
import type { PartOfUpload } from '../../state/storage/multipart-uploads.js';
import type { StoredObject } from '../../state/storage/object-storage.js';
import type { ObjectUpload } from '../../state/storage/object-upload.js';
import { type Grant, invalid, refuseParameters, unsupported } from '../../state/storage/signature-check.js';
import { BodyReader } from '../upload/body-reader.js';
import { type ByteRange, requestedRange } from './byte-range.js';
import { expectedChecksums } from './expected-checksums.js';
import type { Reply, RouteRequest } from './route.js';
import { accountIn, BUCKET_PREFIX, nameOf, refuseOtherEtag } from './s3-requests.js';
import { s3Document } from './s3-xml.js';

/** @throws ServiceError TOO_MANY_JOBS, DatabaseError; the file is stored nevertheless */
export type OnStored = (object: StoredObject, owner: LinkOwner, traceparent?: string) => Promise<void>;

const MAX_PARTS = 10_000;
const COPY_SOURCE = 'x-amz-copy-source';
/**
 * Stores a request's body, or a copy of the object it names: an object, or a part of one.
 * @param onStored called before an upload through a link with an owner is answered
 */
export function objectStorer(config: Config, storage: EmbeddedStorage, onStored: OnStored) {
  const { maxObjectBytes, receiveTimeoutMs } = config;

  async function receive(request: RouteRequest, grant: Grant, reader: BodyReader): Promise<Reply> {
    const name = nameOf(request);
    const limit = new SizeLimit(maxObjectBytes, grant);
    const { chunks } = grant;
    const declaredBytes = (chunks ? chunks.contentBytes : request.body.declaredBytes) ?? 0;
    limit.check(declaredBytes);
    const checksums = expectedChecksums(request.headers, grant);
    const part = partOf(grant);
    const upload = await (part === undefined
      ? storage.objects.begin(name, checksums, declaredBytes)
      : storage.multipart.beginPart(name, part, checksums, declaredBytes));
    let bytes = 0;
    const contentOf = (block: Uint8Array): Uint8Array => {
      const content = chunks?.decode(block) ?? block;
      bytes += content.length;
      limit.check(bytes);
      return content;
    };
    try {
      reader.onOverflow = (block) => {
        upload.writeNow(contentOf(block));
      };
      for await (const block of reader) {
        await upload.write(contentOf(block));
      }
      chunks?.end();
      const md5 = await upload.finish();
      request.record.bodyBytes = bytes;
      const owner = grant.owner === undefined ? undefined : storage.owners.open(grant.owner);
      if (owner !== undefined) {
        await onStored({ name, bytes }, owner, request.record.trace?.traceparent);
      }
      return { status: 200, contentType: '', body: '', headers: [['etag', `"${md5}"`]] };
    } catch (error) {
      // First, or later bytes would be written to a closed file.
      reader.close();
      await upload.discard();
      throw error;
    }
  }

  async function copy(request: RouteRequest, grant: Grant, source: string): Promise<Reply> {
    const name = nameOf(request);
    const part = partOf(grant);
    const object = await storage.objects.read(source);
    try {
      refuseOtherEtag(request.headers, `${COPY_SOURCE}-if-match`, object.md5);
      const { start, end } = copiedRange(request.headers.get(`${COPY_SOURCE}-range`), object.bytes);
      new SizeLimit(maxObjectBytes, grant).check(end - start);
      const upload: ObjectUpload = await (part === undefined
        ? storage.objects.begin(name, [], end - start)
        : storage.multipart.beginPart(name, part, [], end - start));
      try {
        await copyInto(upload, object, start, end);
        const md5 = await upload.finish();
        const time = new Date().toISOString();
        return s3Document(
          part === undefined ? 'CopyObjectResult' : 'CopyPartResult',
          `<LastModified>${time}</LastModified><ETag>"${md5}"</ETag>`,
        );
      } catch (error) {
        await upload.discard();
        throw error;
      }
    } finally {
      await object.close();
    }
  }

  return async (request: RouteRequest): Promise<Reply> => {
    const reader = new BodyReader(request.body, receiveTimeoutMs);
    try {
      const grant = await storage.signatures.checkAny(request);
      request.holdFor(accountIn(nameOf(request)));
      const source = copySource(request, grant);
      return await (source === undefined ? receive(request, grant, reader) : copy(request, grant, source));
    } finally {
      reader.close();
    }
  };
}

/** @throws ServiceError OBJECT_ARGUMENT_INVALID, OBJECT_REQUEST_UNSUPPORTED */
function partOf({ parameters }: Grant): PartOfUpload | undefined {
  const { partNumber, uploadId, ...others } = Object.fromEntries(parameters);
  refuseParameters(new Map(Object.entries(others)));
  if (uploadId === undefined && partNumber === undefined) return undefined;
  const number = /^[1-9]\d{0,4}$/.test(partNumber ?? '') ? Number(partNumber) : 0;
  if (uploadId === undefined || number === 0 || number > MAX_PARTS) {
    throw invalid(
      `a part with uploadId and a partNumber of 1 to ${MAX_PARTS}`,
      `partNumber=${partNumber ?? ''}`,
    );
  }
  return { uploadId, number };
}

/** The name of the object to copy. @throws ServiceError ACCESS_DENIED, OBJECT_NOT_FOUND, OBJECT_REQUEST_UNSUPPORTED */
function copySource({ headers }: RouteRequest, { signedHeaders }: Grant): string | undefined {
  const source = headers.get(COPY_SOURCE);
  if (source === undefined) return undefined;
  // Otherwise the holder of a link for uploading could read the files of all accounts.
  if (!signedHeaders.has(COPY_SOURCE)) {
    throw new ServiceError('ACCESS_DENIED', { problem: `the header ${COPY_SOURCE} is not signed.` });
  }
  const path = `/${source.replace(/^\//, '')}`.replace(/^\/([^/%]*)%2F/i, '/$1/');
  if (!path.startsWith(BUCKET_PREFIX)) throw new ServiceError('OBJECT_NOT_FOUND');
  if (path.includes('?')) throw unsupported('copying a version');
  return nameOf({ path });
}

/** @throws ServiceError OBJECT_RANGE_INVALID, OBJECT_ARGUMENT_INVALID */
function copiedRange(header: string | undefined, bytes: number): ByteRange {
  if (header === undefined) return { start: 0, end: bytes };
  const range = requestedRange(header, bytes);
  // A download may have more than was asked for, since its answer says so; a copy may not.
  if (range === undefined) throw invalid(`bytes=first-last in ${COPY_SOURCE}-range`, header);
  return range;
}

/** The limit of a link: the setting's, or its own, which is that of v0. */
class SizeLimit {
  readonly #allowedBytes: number;
  readonly #isLegacy: boolean;

  constructor(maxObjectBytes: number, { maxBytes = Number.POSITIVE_INFINITY }: Grant) {
    this.#allowedBytes = Math.min(maxObjectBytes, maxBytes);
    this.#isLegacy = maxBytes <= maxObjectBytes;
  }

  /** @throws ServiceError FILE_TOO_LARGE_LEGACY, OBJECT_TOO_LARGE */
  check(bytes: number): void {
    const allowedBytes = this.#allowedBytes;
    if (bytes <= allowedBytes) return;
    throw new ServiceError(this.#isLegacy ? 'FILE_TOO_LARGE_LEGACY' : 'OBJECT_TOO_LARGE', { allowedBytes });
  }
}
