// SPDX-License-Identifier: Apache-2.0
import type { FetchPolicy, FetchTarget } from '../../api/fetch/fetch-policy.js';
import { refuseUnstorableKey } from '../../api/routes/link-fields.js';
import { isClientFault } from '../../base/errors/client-fault.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { ObjectStorage } from '../../state/storage/object-storage.js';
import type { FileStore } from '../../state/storage/open-storage.js';
import type { JobTable } from '../queue/job-table.js';
import type { JobSource } from '../queue/job-text.js';
import { answered } from './job-answers.js';

/** The place of a request's file: one of the two. */
export interface SourceFields {
  readonly presigned_url?: string | undefined;
  readonly key?: string | undefined;
  readonly entity: string;
}

export interface SourceParts {
  readonly files: Pick<FileStore, 'folderOf' | 'home'> & {
    readonly storage: Pick<ObjectStorage, 'nameBehind'>;
  };
  readonly policy: Pick<FetchPolicy, 'judge'>;
  /** Refuses a link whose host has an address that is never allowed; by default the fetch does. */
  readonly refuseAddress?: ((target: FetchTarget) => Promise<void>) | undefined;
}

/** @throws ServiceError FIELD_INVALID, FETCH_HOST_REFUSED, FETCH_ADDRESS_REFUSED, FETCH_STATUS_REFUSED */
export async function jobSourceOf(
  { presigned_url: link, key, entity }: SourceFields,
  account: string,
  { files, policy, refuseAddress }: SourceParts,
): Promise<JobSource> {
  if (key !== undefined && link === undefined) {
    refuseUnstorableKey('key', key);
    return { object: `${files.folderOf(account)}/${entity}/${key}` };
  }
  if (link === undefined || key !== undefined) {
    throw new ServiceError('FIELD_INVALID', {
      field: 'presigned_url and key',
      expected: 'one of the two',
      received: link === undefined ? 'none' : 'both',
    });
  }
  // A link that is never fetched is refused now, not in a job that fails.
  const target = { ...policy.judge(link), account };
  const { url, isStorage } = target;
  // Its link may end before the job begins.
  const object = isStorage ? await objectBehind(files.storage, url) : undefined;
  if (object !== undefined) return { object };
  await refuseAddress?.(target);
  return { link: url.href };
}

/** Its readers: links are for everybody. */
export const homeOf = (source: JobSource, { home }: Pick<FileStore, 'home'>): string | undefined =>
  'object' in source ? home : undefined;

/** @throws ServiceError FETCH_STATUS_REFUSED, as if the link had been fetched */
async function objectBehind(
  storage: Pick<ObjectStorage, 'nameBehind'>,
  url: URL,
): Promise<string | undefined> {
  try {
    return await storage.nameBehind(url);
  } catch (error) {
    if (!(error instanceof ServiceError) || !isClientFault(error.status)) throw error;
    throw new ServiceError('FETCH_STATUS_REFUSED', { status: error.status });
  }
}

/**
 * Now, instead of at the end of the job.
 * @throws ServiceError FIELD_INVALID, WEBHOOK_HOST_REFUSED, WEBHOOK_ADDRESS_REFUSED, WEBHOOK_SECRET_MISSING
 */
export async function refuseUnsendable(
  {
    jobs,
    callbackPolicy,
    refuseAddress,
  }: { jobs: JobTable; callbackPolicy: Pick<FetchPolicy, 'judge'> } & Pick<SourceParts, 'refuseAddress'>,
  callbackUrl: string,
  account: string,
): Promise<void> {
  const target = { ...callbackPolicy.judge(callbackUrl), account };
  try {
    await refuseAddress?.(target);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError('WEBHOOK_ADDRESS_REFUSED', { host: target.url.hostname });
  }
  const secrets = await answered(() => jobs.webhookSecrets.active(account));
  if (secrets.length === 0) throw new ServiceError('WEBHOOK_SECRET_MISSING');
}
