// SPDX-License-Identifier: Apache-2.0
import { isWellFormed, KEY_PREFIX } from '../../base/contract/object-key.js';
import type { Page } from '../../state/storage/disk-objects.js';
import type { EmbeddedStorage } from '../../state/storage/embedded-storage.js';
import { BUCKET, encoded } from '../../state/storage/signature.js';
import { invalid, refuseParameters, unsupported } from '../../state/storage/signature-check.js';
import type { Reply, RouteRequest } from './route.js';
import { accountIn } from './s3-requests.js';
import { escaped, s3Document } from './s3-xml.js';

/** That of S3. */
const MAX_OBJECTS = 1000;
const MAX_INTEGER = 2 ** 31 - 1;
/** An account's folder and an entity, and the start of a key. */
const PREFIX = /^([0-9a-f]{32})\/[a-z][a-z0-9_-]{0,31}\/([\s\S]*)$/;

interface Listing {
  readonly isV2: boolean;
  readonly prefix: string;
  readonly maxKeys: number;
  readonly isGrouped: boolean;
  /** Only names behind it. */
  readonly after: string;
  /** How names are written: as in a URL, or as they are. */
  readonly isEncoded: boolean;
}

/**
 * ListObjects and ListObjectsV2. Other hosts that use this server's storage as their bucket look for files in it.
 * @throws ServiceError OBJECT_ARGUMENT_INVALID, OBJECT_REQUEST_UNSUPPORTED, STORAGE_FAILED
 */
export async function listObjects(
  storage: EmbeddedStorage,
  request: RouteRequest,
  parameters: ReadonlyMap<string, string>,
): Promise<Reply> {
  const listing = listingOf(parameters);
  const { prefix, maxKeys, after, isGrouped } = listing;
  request.holdFor(accountIn(prefix));
  const page: Page =
    maxKeys === 0
      ? { items: [], next: undefined }
      : await storage.objects.page(prefix, maxKeys, { after, isGrouped });
  return s3Document('ListBucketResult', contentOf(listing, page));
}

/** @throws ServiceError OBJECT_ARGUMENT_INVALID, OBJECT_REQUEST_UNSUPPORTED */
function listingOf(parameters: ReadonlyMap<string, string>): Listing {
  const given = new Map(parameters);
  const take = (name: string): string => {
    const value = given.get(name) ?? '';
    given.delete(name);
    return value;
  };
  const type = take('list-type');
  if (!['', '2'].includes(type)) throw unsupported('this value of list-type');
  const isV2 = type === '2';
  const prefix = take('prefix');
  const delimiter = take('delimiter');
  if (!['', '/'].includes(delimiter)) throw unsupported('a delimiter other than /');
  const maxKeys = take('max-keys') || String(MAX_OBJECTS);
  if (!/^\d{1,10}$/.test(maxKeys) || Number(maxKeys) > MAX_INTEGER)
    throw invalid(`an integer of 0 to ${MAX_INTEGER} for max-keys`, maxKeys);
  const encoding = take('encoding-type');
  if (!['', 'url'].includes(encoding)) throw invalid('url for encoding-type', encoding);
  const marker = take('marker');
  const startAfter = take('start-after');
  const token = given.get('continuation-token');
  given.delete('continuation-token');
  // Owners are nobody's concern here.
  take('fetch-owner');
  refuseParameters(given);
  const [, , key] = PREFIX.exec(prefix) ?? [];
  if (key === undefined || !isWellFormed(key) || !KEY_PREFIX.test(key)) {
    throw unsupported('listing beyond one account and entity: set the prefix to <account>/<entity>/');
  }
  return {
    isV2,
    prefix,
    maxKeys: Math.min(Number(maxKeys), MAX_OBJECTS),
    isGrouped: delimiter !== '',
    after: isV2 ? (nameIn(token, prefix) ?? startAfter) : marker,
    isEncoded: encoding !== '',
  };
}

const tokenOf = (name: string): string => Buffer.from(name).toString('base64url');

/**
 * The last name of the page before.
 * @throws ServiceError OBJECT_ARGUMENT_INVALID for a token of another list: it would leave out names, or begin anew
 */
function nameIn(token: string | undefined, prefix: string): string | undefined {
  if (token === undefined) return undefined;
  const name = Buffer.from(token, 'base64url').toString();
  if (name !== '' && name.startsWith(prefix) && tokenOf(name) === token) return name;
  throw invalid('the continuation-token of an earlier page of this list', token);
}

function contentOf(listing: Listing, { items, next }: Page): string {
  const { isV2, prefix, maxKeys, isGrouped, after, isEncoded } = listing;
  const nameText = (name: string): string =>
    escaped(isEncoded ? name.split('/').map(encoded).join('/') : name);
  const nextText = (name: string): string =>
    isV2
      ? `<NextContinuationToken>${tokenOf(name)}</NextContinuationToken>`
      : `<NextMarker>${nameText(name)}</NextMarker>`;
  return [
    `<Name>${BUCKET}</Name><Prefix>${nameText(prefix)}</Prefix><MaxKeys>${maxKeys}</MaxKeys>`,
    isGrouped ? '<Delimiter>/</Delimiter>' : '',
    isEncoded ? '<EncodingType>url</EncodingType>' : '',
    isV2 ? `<KeyCount>${items.length}</KeyCount>` : `<Marker>${nameText(after)}</Marker>`,
    `<IsTruncated>${next !== undefined}</IsTruncated>`,
    next === undefined ? '' : nextText(next),
    ...items.map(({ name, object }) =>
      object === undefined
        ? `<CommonPrefixes><Prefix>${nameText(name)}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${nameText(name)}</Key><LastModified>${object.modifiedAt.toISOString()}</LastModified>` +
          `<ETag>"${object.md5}"</ETag><Size>${object.bytes}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
    ),
  ].join('');
}
