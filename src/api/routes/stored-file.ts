// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { cutShort, type OpenObject } from '../../state/storage/disk-objects.js';
import type { EmbeddedStorage } from '../../state/storage/embedded-storage.js';
import { BUCKET } from '../../state/storage/signature.js';
import { refuseParameters } from '../../state/storage/signature-check.js';
import { bucketRequests } from './bucket-requests.js';
import { requestedRange } from './byte-range.js';
import { multipartStarterAndEnder } from './multipart.js';
import type { Headers, Reply, ReplyStream, Route, RouteRequest } from './route.js';
import { refuseHeaders } from './s3-headers.js';
import { s3Refusal } from './s3-refusal.js';
import { accountIn, BUCKET_PREFIX, hasEtag, nameOf, refuseOtherEtag } from './s3-requests.js';
import { type OnStored, objectStorer } from './store-object.js';
import { bucketOperations, objectOperations } from './stored-file-operations.js';

const PIECE_BYTES = 256 * 1024;

/**
 * The targets of the embedded storage's links: one object is stored or sent, whole or in part.
 * @param onStored called before an upload through a link with an owner is answered
 */
export function storedFileRoutes(config: Config, storage: EmbeddedStorage, onStored: OnStored): Route[] {
  const common = {
    wantsHeaders: true,
    takesPermit: true,
    isTransfer: true,
    refusal: s3Refusal,
  } as const;

  async function get(request: RouteRequest): Promise<Reply> {
    const { maxBytes = Number.POSITIVE_INFINITY } = await storage.signatures.check(request);
    const name = nameOf(request);
    // Uploads must keep pace; readers have no minimum pace, and one link has any number of them.
    request.holdFor(accountIn(name), name);
    const object = await storage.objects.read(name);
    try {
      if (object.bytes > maxBytes)
        throw new ServiceError('FILE_TOO_LARGE_LEGACY', { allowedBytes: maxBytes });
      if (!isUnchanged(object, request.headers)) return objectReply(object, request.headers);
      await object.close();
      return { status: 304, contentType: '', body: '', headers: validatorsOf(object) };
    } catch (error) {
      await object.close();
      throw error;
    }
  }

  async function remove(request: RouteRequest): Promise<Reply> {
    const { parameters } = await storage.signatures.checkAny(request);
    const { uploadId, ...others } = Object.fromEntries(parameters);
    refuseParameters(new Map(Object.entries(others)));
    if (uploadId === undefined) await storage.objects.remove(nameOf(request));
    else await storage.multipart.abort(nameOf(request), uploadId);
    return { status: 204, contentType: '', body: '' };
  }

  const ofBucket = bucketRequests(config, storage);
  const ofObject = {
    PUT: objectStorer(config, storage, onStored),
    GET: get,
    POST: multipartStarterAndEnder(config, storage),
    DELETE: remove,
  };
  const methods = ['PUT', 'GET', 'POST', 'DELETE'] as const;
  return methods.flatMap((method): Route[] => [
    {
      ...common,
      method,
      path: BUCKET_PREFIX,
      isPrefix: true,
      operation: objectOperations(config)[method],
      handle: checked((request) => (request.path === BUCKET_PREFIX ? ofBucket : ofObject)[method](request)),
    },
    {
      ...common,
      method,
      path: `/${BUCKET}`,
      operation: bucketOperations[method],
      handle: checked(ofBucket[method]),
    },
  ]);
}

const checked =
  (handle: Route['handle']): Route['handle'] =>
  (request) => {
    refuseHeaders(request);
    return handle(request);
  };

/**
 * Whether the client has the object as it is, in the order of RFC 9110, section 13.2.2.
 * @throws ServiceError OBJECT_OTHER_ETAG
 */
function isUnchanged({ md5, modifiedAt }: OpenObject, headers: ReadonlyMap<string, string>): boolean {
  // HTTP dates have no milliseconds.
  const modifiedMs = Math.floor(modifiedAt.getTime() / 1000) * 1000;
  const timeIn = (name: string): number => Date.parse(headers.get(name) ?? '');
  if (headers.has('if-match')) refuseOtherEtag(headers, 'if-match', md5);
  else if (modifiedMs > timeIn('if-unmodified-since'))
    throw new ServiceError('OBJECT_OTHER_ETAG', { header: 'if-unmodified-since' });
  const etags = headers.get('if-none-match');
  if (etags === undefined) return modifiedMs <= timeIn('if-modified-since');
  // Caches also send weak ones.
  return hasEtag(etags.replaceAll('W/', ''), md5);
}

const validatorsOf = ({ md5, modifiedAt }: OpenObject): Headers => [
  ['etag', `"${md5}"`],
  ['last-modified', modifiedAt.toUTCString()],
];

function objectReply(object: OpenObject, requestHeaders: ReadonlyMap<string, string>): Reply {
  const etag = `"${object.md5}"`;
  const ifRange = requestHeaders.get('if-range') ?? etag;
  const range = ifRange === etag ? requestedRange(requestHeaders.get('range'), object.bytes) : undefined;
  const headers: Headers = [
    ...validatorsOf(object),
    ['accept-ranges', 'bytes'],
    // An upload must never become a page or a script of this host.
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
      if (bytes === 0) throw cutShort();
      position += bytes;
      return wanted.subarray(0, bytes);
    },
    close: () => object.close(),
  };
}
