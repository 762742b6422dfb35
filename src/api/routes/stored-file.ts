// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { signatureErrors } from '../../base/contract/error-groups.js';
import type { Operation } from '../../base/contract/operation.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { OpenObject } from '../../state/storage/disk-objects.js';
import { type EmbeddedStorage, nameInPath } from '../../state/storage/embedded-storage.js';
import type { LinkOwner } from '../../state/storage/link-owner.js';
import type { StoredObject } from '../../state/storage/object-storage.js';
import { BUCKET } from '../../state/storage/signature.js';
import type { Grant } from '../../state/storage/signature-check.js';
import { BodyReader } from '../upload/body-reader.js';
import { requestedRange } from './byte-range.js';
import { expectedChecksums } from './expected-checksums.js';
import { listObjects, objectListRoute } from './object-list.js';
import type { Headers, Reply, ReplyStream, Route, RouteRequest } from './route.js';
import { s3Refusal } from './s3-refusal.js';

/** @throws ServiceError TOO_MANY_JOBS, DatabaseError; the file is stored nevertheless */
export type OnStored = (object: StoredObject, owner: LinkOwner, traceparent?: string) => Promise<void>;

const PREFIX = `/${BUCKET}/`;
const PIECE_BYTES = 256 * 1024;
const LIST_PARAMETER = /(?:^|&)list-type=/;

const description =
  'Where links of the embedded storage lead. Their query carries the signature; errors are XML, as S3 writes it.';

const putOperation = ({ maxObjectBytes }: Config): Operation => ({
  id: 'putObject',
  tag: 'Files',
  summary: 'Uploads one file through a link.',
  description,
  bytes: { description: 'The file.', maxBytes: maxObjectBytes },
  answers: { 200: { description: 'It is stored; `etag` holds its MD5.' } },
  errors: [
    ...signatureErrors,
    'OBJECT_NOT_FOUND',
    'OBJECT_TOO_LARGE',
    'ACCOUNT_QUOTA_EXCEEDED',
    'OBJECT_DIGEST_MISMATCH',
    'OBJECT_CHUNKS_INVALID',
    'FILE_TOO_LARGE_LEGACY',
    'RECEIVE_TIMEOUT',
    'RECEIVE_TOO_SLOW',
    'STORAGE_FULL',
    'STORAGE_FAILED',
    'TOO_MANY_JOBS',
    'DATABASE_UNAVAILABLE',
  ],
});

const file = { contentType: 'application/octet-stream' };
const getOperation: Operation = {
  id: 'getObject',
  tag: 'Files',
  summary: 'Downloads one file through a link.',
  description,
  answers: {
    200: { description: 'The file.', ...file },
    206: { description: 'The part of it that the header `range` asks for.', ...file },
  },
  errors: [
    ...signatureErrors,
    'OBJECT_NOT_FOUND',
    'OBJECT_RANGE_INVALID',
    'FILE_TOO_LARGE_LEGACY',
    'STORAGE_FAILED',
  ],
};

const deleteOperation: Operation = {
  id: 'deleteObject',
  tag: 'Files',
  summary: 'Deletes one file, for S3 programs with the credentials of the storage.',
  description,
  answers: { 204: { description: 'The file is deleted, or there was none.' } },
  errors: [...signatureErrors, 'OBJECT_NOT_FOUND', 'STORAGE_FAILED'],
};

/**
 * Where the embedded storage's links lead: one object is stored or sent, whole or in part.
 * @param onStored called before an upload through a link with an owner is answered
 */
export function storedFileRoutes(config: Config, storage: EmbeddedStorage, onStored: OnStored): Route[] {
  const common = {
    path: PREFIX,
    isPrefix: true,
    wantsHeaders: true,
    takesPermit: true,
    isTransfer: true,
    refusal: s3Refusal,
  } as const;

  async function put(request: RouteRequest): Promise<Reply> {
    const reader = new BodyReader(request.body, config.receiveTimeoutMs);
    try {
      const grant = await storage.signatures.check(request);
      request.holdFor(accountIn(nameOf(request)));
      const limit = new SizeLimit(config.maxObjectBytes, grant);
      const { chunks } = grant;
      const declaredBytes = (chunks ? chunks.contentBytes : request.body.declaredBytes) ?? 0;
      limit.check(declaredBytes);
      const checksums = expectedChecksums(request.headers, grant);
      const upload = await storage.objects.begin(nameOf(request), checksums, declaredBytes);
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
          await onStored({ name: nameOf(request), bytes }, owner, request.record.trace?.traceparent);
        }
        return { status: 200, contentType: '', body: '', headers: [['etag', `"${md5}"`]] };
      } catch (error) {
        // First, or what still comes would be written to a file that is closed.
        reader.close();
        await upload.discard();
        throw error;
      }
    } finally {
      reader.close();
    }
  }

  async function get(request: RouteRequest): Promise<Reply> {
    if (request.path === PREFIX && LIST_PARAMETER.test(request.query)) return listObjects(storage, request);
    const { maxBytes = Number.POSITIVE_INFINITY } = await storage.signatures.check(request);
    const name = nameOf(request);
    // Uploads have to keep pace; readers have no minimum pace, and one link has any number of them.
    request.holdFor(accountIn(name), name);
    const object = await storage.objects.read(name);
    try {
      if (object.bytes > maxBytes)
        throw new ServiceError('FILE_TOO_LARGE_LEGACY', { allowedBytes: maxBytes });
      return objectReply(object, request.headers);
    } catch (error) {
      await object.close();
      throw error;
    }
  }

  async function remove(request: RouteRequest): Promise<Reply> {
    await storage.signatures.check(request);
    await storage.objects.remove(nameOf(request));
    return { status: 204, contentType: '', body: '' };
  }

  return [
    { ...common, method: 'PUT', operation: putOperation(config), handle: put },
    { ...common, method: 'GET', operation: getOperation, handle: get },
    { ...common, method: 'DELETE', operation: deleteOperation, handle: remove },
    objectListRoute(storage),
  ];
}

const nameOf = ({ path }: RouteRequest): string => nameInPath(path);

/** What stands for the account in the name of an object: its folder. */
const accountIn = (name: string): string => name.slice(0, name.indexOf('/'));

/** What a link takes: the setting's limit, or its own, which is that of v0. */
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

function objectReply(object: OpenObject, requestHeaders: ReadonlyMap<string, string>): Reply {
  const etag = `"${object.md5}"`;
  const ifRange = requestHeaders.get('if-range') ?? etag;
  const range = ifRange === etag ? requestedRange(requestHeaders.get('range'), object.bytes) : undefined;
  const headers: Headers = [
    ['etag', etag],
    ['last-modified', object.modifiedAt.toUTCString()],
    ['accept-ranges', 'bytes'],
    // Whatever was uploaded must not become a page or a script of this host.
    ['x-content-type-options', 'nosniff'],
    ['content-security-policy', "default-src 'none'; sandbox"],
  ];
  const type = { contentType: 'application/octet-stream', body: '' };
  if (range === undefined) {
    return { status: 200, ...type, headers, stream: streamOf(object, 0, object.bytes) };
  }
  const contentRange = `bytes ${range.start}-${range.end - 1}/${object.bytes}`;
  return {
    status: 206,
    ...type,
    headers: [...headers, ['content-range', contentRange]],
    stream: streamOf(object, range.start, range.end),
  };
}

function streamOf(object: OpenObject, start: number, end: number): ReplyStream {
  let buffer: Uint8Array | undefined;
  let position = start;
  return {
    bytes: end - start,
    async read() {
      buffer ??= Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - start));
      const wanted = buffer.subarray(0, Math.min(buffer.length, end - position));
      const bytes = await object.read(wanted, position);
      if (bytes === 0)
        throw new ServiceError('STORAGE_FAILED', {}, { cause: new Error('The file was cut short.') });
      position += bytes;
      return wanted.subarray(0, bytes);
    },
    close: () => object.close(),
  };
}
