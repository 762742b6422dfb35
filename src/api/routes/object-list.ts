// SPDX-License-Identifier: Apache-2.0
import { signatureErrors } from '../../base/contract/error-groups.js';
import { isWellFormed, KEY_PREFIX } from '../../base/contract/object-key.js';
import type { Operation } from '../../base/contract/operation.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { EmbeddedStorage } from '../../state/storage/embedded-storage.js';
import type { StoredObject } from '../../state/storage/object-storage.js';
import { BUCKET, encoded } from '../../state/storage/signature.js';
import type { Reply, Route, RouteRequest } from './route.js';
import { escaped, s3Refusal } from './s3-refusal.js';

/** That of S3. */
const MAX_OBJECTS = 1000;
/** An account's folder and an entity, and the start of a key. */
const PREFIX = /^([0-9a-f]{32})\/[a-z][a-z0-9_-]{0,31}\/([\s\S]*)$/;

const operation: Operation = {
  id: 'listObjects',
  tag: 'Files',
  summary: 'Lists files of one account and entity, for S3 programs with the credentials of the storage.',
  description: 'ListObjectsV2 of S3; the prefix must hold the account’s folder and the entity.',
  answers: { 200: { description: 'The first names in order, and sizes.', contentType: 'application/xml' } },
  errors: [...signatureErrors, 'STORAGE_FAILED'],
};

interface Listing {
  readonly prefix: string;
  readonly maxKeys: number;
  /** How names are written: as in a URL, or as they are. */
  readonly isEncoded: boolean;
}

/**
 * Other hosts that use this server's storage as their bucket look for files in it.
 * @throws ServiceError as SignatureCheck.checkListing does, OBJECT_REQUEST_UNSUPPORTED, STORAGE_FAILED
 */
export async function listObjects(storage: EmbeddedStorage, request: RouteRequest): Promise<Reply> {
  const listing = listingOf(await storage.signatures.checkListing(request));
  const { prefix, maxKeys } = listing;
  request.holdFor(prefix.slice(0, prefix.indexOf('/')));
  // One more says whether there are more.
  const found = maxKeys === 0 ? [] : await storage.list(prefix, maxKeys + 1);
  return { status: 200, contentType: 'application/xml', body: document(listing, found) };
}

/** The path of the bucket. Some programs put a slash behind it, where the objects are. */
export const objectListRoute = (storage: EmbeddedStorage): Route => ({
  method: 'GET',
  path: `/${BUCKET}`,
  operation,
  wantsHeaders: true,
  takesPermit: true,
  isTransfer: true,
  refusal: s3Refusal,
  handle: (request) => listObjects(storage, request),
});

/** @throws ServiceError OBJECT_REQUEST_UNSUPPORTED */
function listingOf(parameters: ReadonlyMap<string, string>): Listing {
  const given = new Map(parameters);
  const take = (name: string): string | undefined => {
    const value = given.get(name);
    given.delete(name);
    return value;
  };
  if (take('list-type') !== '2') throw unsupported('listing without list-type=2');
  const prefix = take('prefix') ?? '';
  const [, , key] = PREFIX.exec(prefix) ?? [];
  if (key === undefined || !isWellFormed(key) || !KEY_PREFIX.test(key)) {
    throw unsupported('listing beyond one account and entity');
  }
  const maxKeys = take('max-keys') ?? String(MAX_OBJECTS);
  if (!/^\d{1,9}$/.test(maxKeys)) throw unsupported('this value of max-keys');
  const encoding = take('encoding-type');
  if (encoding !== undefined && encoding !== 'url') throw unsupported('this value of encoding-type');
  for (const [name, value] of given) {
    // Empty ones mean what their absence means.
    if (value !== '') throw unsupported(`the parameter ${name.slice(0, 50)}`);
  }
  return { prefix, maxKeys: Math.min(Number(maxKeys), MAX_OBJECTS), isEncoded: encoding !== undefined };
}

const unsupported = (what: string): ServiceError => new ServiceError('OBJECT_REQUEST_UNSUPPORTED', { what });

function document({ prefix, maxKeys, isEncoded }: Listing, found: readonly StoredObject[]): string {
  const nameText = (name: string): string =>
    escaped(isEncoded ? name.split('/').map(encoded).join('/') : name);
  const objects = found.slice(0, maxKeys);
  const contents = objects.map(
    ({ name, bytes }) =>
      `<Contents><Key>${nameText(name)}</Key><Size>${bytes}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
    `<Name>${BUCKET}</Name><Prefix>${nameText(prefix)}</Prefix><MaxKeys>${maxKeys}</MaxKeys>`,
    isEncoded ? '<EncodingType>url</EncodingType>' : '',
    `<KeyCount>${objects.length}</KeyCount><IsTruncated>${found.length > maxKeys}</IsTruncated>`,
    ...contents,
    '</ListBucketResult>',
  ].join('');
}
