// SPDX-License-Identifier: Apache-2.0
import type { Analyser } from '../../analysis/analyser/analyser.js';
import { detectorNamed } from '../../analysis/pipeline/model-status.js';
import type { Config } from '../../base/config/options.js';
import type { JobBody } from '../../base/contract/job.js';
import { type JobFields, jobFieldSchemas } from '../../base/contract/job-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { JobParameters, JobSource } from '../../state/jobs/job-text.js';
import type { Jobs } from '../../state/jobs/jobs.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import type { EmbeddedStorage } from '../../state/storage/embedded-storage.js';
import type { FileStore } from '../../state/storage/open-storage.js';
import type { FetchPolicy } from '../fetch/fetch-policy.js';
import { receiveJson } from '../upload/json-body.js';
import { FieldValidator } from './form-fields.js';
import { answered, bodyOf, callerOf } from './job-answers.js';
import { refuseUnstorableKey } from './link-fields.js';
import { regionOf } from './region.js';
import { jsonReply, type Reply, type RouteRequest } from './route.js';

const MAX_JSON_BYTES = 32 * 1024;

export interface JobRouteParts {
  readonly jobs: Jobs;
  readonly analyser: Pick<Analyser, 'status'>;
  readonly points: OperatingPoints;
  readonly files: Pick<FileStore, 'folderOf' | 'embedded'>;
  readonly policy: Pick<FetchPolicy, 'judge'>;
  /** Where webhooks may go. */
  readonly callbackPolicy: Pick<FetchPolicy, 'judge'>;
  readonly config: Pick<Config, 'receiveTimeoutMs'>;
}

/** `POST /v1/jobs`. */
export function jobCreator(parts: JobRouteParts) {
  const { jobs, analyser, points, files, policy, callbackPolicy } = parts;
  const { receiveTimeoutMs } = parts.config;
  const validator = new FieldValidator<JobFields>({ schemas: jobFieldSchemas(analyser.status().detectors) });

  async function sourceOf(
    { presigned_url: link, key, entity }: JobFields,
    account: string,
  ): Promise<JobSource> {
    if ((link === undefined) === (key === undefined)) {
      throw new ServiceError('FIELD_INVALID', {
        field: 'presigned_url and key',
        expected: 'one of the two',
        received: link === undefined ? 'none' : 'both',
      });
    }
    if (key === undefined) {
      // A link that is never fetched is refused now, not in a job that fails.
      const { url, isStorage } = policy.judge(link as string);
      if (!isStorage || files.embedded === undefined) return { link: url.href };
      // Its link may end before the job begins.
      return { object: await objectBehind(files.embedded, url) };
    }
    refuseUnstorableKey('key', key);
    return { object: `${files.folderOf(account)}/${entity}/${key}` };
  }

  /** Now, instead of at the end of the job. */
  async function refuseUnsendable(callbackUrl: string, account: string): Promise<void> {
    callbackPolicy.judge(callbackUrl);
    const secrets = await answered(() => jobs.webhookSecrets.active(account));
    if (secrets.length === 0) throw new ServiceError('WEBHOOK_SECRET_MISSING');
  }

  return async (request: RouteRequest): Promise<Reply> => {
    const limits = { maxBytes: MAX_JSON_BYTES, receiveTimeoutMs };
    const fields = validator.fromJson(await receiveJson(request.body, request.contentType, limits));
    const { account, keyId } = callerOf(request);
    const { model, threshold, silence_threshold, prediction_id, idempotency_key, callback_url } = fields;
    if (callback_url !== undefined) await refuseUnsendable(callback_url, account);
    const detector = detectorNamed(analyser.status(), model);
    const parameters: JobParameters = {
      model,
      ...(prediction_id !== undefined && { predictionId: prediction_id }),
      threshold:
        typeof threshold === 'number' ? threshold : points.thresholdOf(threshold, detector, 'threshold'),
      silenceThresholdPercent: silence_threshold,
      ...regionOf(fields),
    };
    const newJob = {
      account,
      keyId,
      task: 'predict',
      source: JSON.stringify(await sourceOf(fields, account)),
      parameters: JSON.stringify(parameters),
      callbackUrl: callback_url,
      idempotencyKey: idempotency_key,
    } as const;
    return answered(async () => {
      const { job } = await jobs.create(newJob);
      return {
        ...jsonReply<JobBody>(202, await bodyOf(jobs, job)),
        headers: [['location', `/v1/jobs/${job.id}`]],
      };
    });
  };
}

/** @throws ServiceError FETCH_STATUS_REFUSED, as if the link had been fetched */
async function objectBehind(storage: EmbeddedStorage, url: URL): Promise<string> {
  try {
    return await storage.nameBehind(url);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    throw new ServiceError('FETCH_STATUS_REFUSED', { status: error.status });
  }
}
