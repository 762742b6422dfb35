// SPDX-License-Identifier: Apache-2.0
import type { OnUploadLinks } from '../../api/routes/links.js';
import type { OnStored } from '../../api/routes/store-object.js';
import type { Config } from '../../base/config/options.js';
import { defaultsOf } from '../../base/contract/fields.js';
import type { DetectorNames } from '../../base/contract/model-ids.js';
import type { LinkOwner } from '../../state/storage/link-owner.js';
import { jobFieldSchemas } from '../contract/job-fields.js';
import type { AwaitedUploads } from '../queue/awaited-uploads.js';
import type { JobTable } from '../queue/job-table.js';
import type { JobParameters, JobSource } from '../queue/job-text.js';
import { answered } from './job-answers.js';

const RESULTS_ENTITY = 'results';

/** From here on, the interface has no request that waits for the verdict. */
const LARGE_BYTES = 100_000_000;

/** The smallest upload that the settings have analysed by itself; undefined if none is. */
export function smallestAnalysed({ analyseUploads }: Pick<Config, 'analyseUploads'>): number | undefined {
  return { off: undefined, large: LARGE_BYTES, all: 1 }[analyseUploads];
}

/**
 * Makes a job of an upload, with the default parameters.
 * @param idempotencyKey once for each
 * @throws ServiceError TOO_MANY_JOBS, DatabaseError
 */
export async function createUploadJob(
  jobs: JobTable,
  detectors: readonly DetectorNames[],
  upload: {
    name: string;
    home: string;
    owner: LinkOwner;
    idempotencyKey?: string;
    traceparent?: string | undefined;
  },
): Promise<{ readonly isNew: boolean }> {
  const { name, home, owner, idempotencyKey, traceparent } = upload;
  const defaults = defaultsOf(jobFieldSchemas(detectors));
  const parameters: JobParameters = {
    model: String(defaults.model),
    threshold: Number(defaults.threshold),
    silenceThresholdPercent: Number(defaults.silence_threshold),
  };
  const [folder, , ...key] = name.split('/');
  const source: JobSource = {
    object: name,
    resultObject: [folder, RESULTS_ENTITY, ...key].join('/'),
  };
  return answered(() =>
    jobs.create({
      ...owner,
      task: 'predict',
      source: JSON.stringify(source),
      home,
      parameters: JSON.stringify(parameters),
      idempotencyKey,
      traceparent,
    }),
  );
}

/** Has uploads to a bucket looked for; undefined if the settings choose none, or if the storage tells of them itself. */
export function uploadsToAwait(
  config: Pick<Config, 'analyseUploads' | 'storageLinkLifetimeS'>,
  awaited: AwaitedUploads | undefined,
): OnUploadLinks | undefined {
  if (awaited === undefined || smallestAnalysed(config) === undefined) return undefined;
  return (names, owner) => answered(() => awaited.expect(names, owner, config.storageLinkLifetimeS));
}

/** Makes a job of each upload to the data folder that the settings choose. */
export function uploadJobs(
  config: Pick<Config, 'analyseUploads'>,
  jobs: JobTable,
  detectors: readonly DetectorNames[],
  home: string,
): OnStored {
  const minBytes = smallestAnalysed(config);
  if (minBytes === undefined) return async () => {};
  return async ({ name, bytes }, owner, traceparent) => {
    if (bytes >= minBytes) await createUploadJob(jobs, detectors, { name, home, owner, traceparent });
  };
}
