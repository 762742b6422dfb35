// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { catalogue } from '../../base/errors/catalogue.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { EmbeddedStorage } from '../../state/storage/embedded-storage.js';
import { BUCKET } from '../../state/storage/signature.js';
import { refuseParameters, unsupported } from '../../state/storage/signature-check.js';
import { listObjects } from './object-list.js';
import type { Reply, RouteRequest } from './route.js';
import { receiveXml } from './s3-requests.js';
import { elementsOf, escaped, s3Document, textOf } from './s3-xml.js';

/** That of S3. */
const MAX_DELETIONS = 1000;

/** Questions of programs about how to talk to a bucket. */
const facts: ReadonlyMap<string, () => Reply> = new Map([
  // Empty stands for the region that clients take when they are told none.
  ['location', () => s3Document('LocationConstraint', '')],
  ['versioning', () => s3Document('VersioningConfiguration', '')],
]);

/** Answers requests for the bucket as a whole. */
export function bucketRequests(config: Config, storage: EmbeddedStorage) {
  async function look(request: RouteRequest): Promise<Reply> {
    const { parameters } = await storage.signatures.checkAny(request);
    if (request.method === 'HEAD') {
      refuseParameters(parameters);
      return { status: 200, contentType: '', body: '' };
    }
    const [first = ''] = parameters.keys();
    const fact = parameters.size === 1 ? facts.get(first) : undefined;
    return fact?.() ?? listObjects(storage, request, parameters);
  }

  /** Programs make the bucket before they put something into it. */
  async function make(request: RouteRequest): Promise<Reply> {
    await storage.signatures.check(request);
    return { status: 200, contentType: '', body: '', headers: [['location', `/${BUCKET}`]] };
  }

  async function removeObjects(request: RouteRequest): Promise<Reply> {
    const { grant, xml } = await receiveXml(request, storage, config);
    const { delete: isDeletion, ...others } = Object.fromEntries(grant.parameters);
    refuseParameters(new Map(Object.entries(others)));
    if (isDeletion === undefined) throw unsupported('forms');
    const names = elementsOf(xml, 'Object').map((object) => {
      for (const condition of ['VersionId', 'ETag', 'LastModifiedTime', 'Size']) {
        if (textOf(object, condition) !== undefined) throw unsupported(`deleting by ${condition}`);
      }
      return textOf(object, 'Key') ?? '';
    });
    if (names.length === 0 || names.length > MAX_DELETIONS) {
      throw new ServiceError('OBJECT_XML_INVALID', { expected: `a list of 1 to ${MAX_DELETIONS} objects` });
    }
    const isQuiet = textOf(xml, 'Quiet') === 'true';
    const results: string[] = [];
    for (const name of names) {
      const key = `<Key>${escaped(name)}</Key>`;
      try {
        await storage.objects.remove(name);
        if (!isQuiet) results.push(`<Deleted>${key}</Deleted>`);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        const code = ('s3Code' in catalogue[error.key] && catalogue[error.key].s3Code) || 'InternalError';
        results.push(`<Error>${key}<Code>${code}</Code><Message>${escaped(error.message)}</Message></Error>`);
      }
    }
    return s3Document('DeleteResult', results.join(''));
  }

  async function refuse(request: RouteRequest): Promise<Reply> {
    await storage.signatures.check(request);
    throw unsupported('deleting the bucket');
  }

  return { GET: look, PUT: make, POST: removeObjects, DELETE: refuse } as const;
}

/** The list of all buckets. @throws ServiceError as SignatureCheck.check does */
export async function listBuckets(storage: EmbeddedStorage, request: RouteRequest): Promise<Reply> {
  await storage.signatures.check(request);
  const bucket = `<Name>${BUCKET}</Name><CreationDate>1970-01-01T00:00:00.000Z</CreationDate>`;
  return s3Document('ListAllMyBucketsResult', `<Buckets><Bucket>${bucket}</Bucket></Buckets>`);
}
