// SPDX-License-Identifier: Apache-2.0
import type { Analyser } from '../../analysis/analyser/analyser.js';
import { detectorNamed } from '../../analysis/pipeline/model-status.js';
import type { Config } from '../../base/config/options.js';
import { type JobFields, jobFieldSchemas } from '../../base/contract/job-fields.js';
import type { JobParameters } from '../../state/jobs/job-text.js';
import type { Jobs } from '../../state/jobs/jobs.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import type { FileStore } from '../../state/storage/open-storage.js';
import type { FetchPolicy } from '../fetch/fetch-policy.js';
import { receiveJson } from '../upload/json-body.js';
import { FieldValidator } from './form-fields.js';
import { accepted, callerOf } from './job-answers.js';
import { jobSourceOf, refuseUnsendable } from './job-source.js';
import { regionOf } from './region.js';
import type { Reply, RouteRequest } from './route.js';

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
  const { jobs, analyser, points } = parts;
  const { receiveTimeoutMs } = parts.config;
  const validator = new FieldValidator<JobFields>({ schemas: jobFieldSchemas(analyser.status().detectors) });

  return async (request: RouteRequest): Promise<Reply> => {
    const limits = { maxBytes: MAX_JSON_BYTES, receiveTimeoutMs };
    const fields = validator.fromJson(await receiveJson(request.body, request.contentType, limits));
    const { account, keyId } = callerOf(request);
    const { model, threshold, silence_threshold, prediction_id, idempotency_key, callback_url } = fields;
    if (callback_url !== undefined) await refuseUnsendable(parts, callback_url, account);
    const detector = detectorNamed(analyser.status(), model);
    const parameters: JobParameters = {
      model,
      ...(prediction_id !== undefined && { predictionId: prediction_id }),
      threshold:
        typeof threshold === 'number' ? threshold : points.thresholdOf(threshold, detector, 'threshold'),
      silenceThresholdPercent: silence_threshold,
      ...regionOf(fields),
    };
    return accepted(jobs, {
      account,
      keyId,
      task: 'predict',
      source: JSON.stringify(await jobSourceOf(fields, account, parts)),
      parameters: JSON.stringify(parameters),
      callbackUrl: callback_url,
      idempotencyKey: idempotency_key,
      traceparent: request.record.trace?.traceparent,
    });
  };
}
