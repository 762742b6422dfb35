// SPDX-License-Identifier: Apache-2.0
import type { Analyser } from '../../analysis/analyser/analyser.js';
import { chooseSpeakerModel } from '../../analysis/voiceid/speaker.js';
import type { FetchPolicy } from '../../api/fetch/fetch-policy.js';
import { FieldValidator } from '../../api/routes/form-fields.js';
import { regionOf } from '../../api/routes/region.js';
import { callerOf, type Reply, type RouteRequest } from '../../api/routes/route.js';
import { receiveJson } from '../../api/upload/json-body.js';
import type { Config } from '../../base/config/options.js';
import { publicPath } from '../../base/config/public-path.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import {
  type EnrollJobFields,
  enrollJobFieldSchemas,
  type JobFields,
  jobFieldSchemas,
} from '../contract/job-fields.js';
import type { JobTable } from '../queue/job-table.js';
import type { EnrollParameters, JobParameters } from '../queue/job-text.js';
import { accepted, type FileLookup, requireScope } from './job-answers.js';
import { analysisParameters } from './job-parameters.js';
import { homeOf, jobSourceOf, refuseUnsendable, type SourceFields, type SourceParts } from './job-source.js';

const MAX_JSON_BYTES = 32 * 1024;

export interface JobRouteParts {
  readonly jobs: JobTable;
  readonly analyser: Pick<Analyser, 'status'>;
  readonly points: OperatingPoints;
  readonly files: SourceParts['files'] & { readonly storage: FileLookup };
  readonly policy: Pick<FetchPolicy, 'judge'>;
  /** The permitted addresses of webhooks. */
  readonly callbackPolicy: Pick<FetchPolicy, 'judge'>;
  readonly refuseAddress?: SourceParts['refuseAddress'];
  readonly config: Pick<Config, 'receiveTimeoutMs' | 'speakerModel'> & Parameters<typeof publicPath>[0];
}

/** Fields that the tasks of a job have in common. */
type CommonFields = SourceFields & Pick<JobFields, 'idempotency_key' | 'callback_url'>;

/** `POST /v1/jobs`. */
export function jobCreator(parts: JobRouteParts) {
  const { jobs, analyser, config } = parts;
  const { receiveTimeoutMs } = config;
  const validator = new FieldValidator<JobFields>({ schemas: jobFieldSchemas(analyser.status().detectors) });
  const enrollValidator = new FieldValidator<EnrollJobFields>({ schemas: enrollJobFieldSchemas });

  async function create(
    request: RouteRequest,
    fields: CommonFields,
    task: 'predict' | 'enroll',
    parameters: JobParameters | EnrollParameters,
  ): Promise<Reply> {
    const { account, keyId } = callerOf(request);
    const { idempotency_key, callback_url } = fields;
    if (callback_url !== undefined) await refuseUnsendable(parts, callback_url, account);
    const source = await jobSourceOf(fields, account, parts);
    return accepted(
      jobs,
      parts.files.storage,
      source,
      {
        account,
        keyId,
        task,
        source: JSON.stringify(source),
        home: homeOf(source, parts.files),
        parameters: JSON.stringify(parameters),
        callbackUrl: callback_url,
        idempotencyKey: idempotency_key,
        traceparent: request.record.trace?.traceparent,
      },
      publicPath(parts.config),
    );
  }

  return async (request: RouteRequest): Promise<Reply> => {
    const limits = { maxBytes: MAX_JSON_BYTES, receiveTimeoutMs };
    const given = await receiveJson(request.body, request.contentType, limits);
    if (given.task === 'enroll') {
      requireScope(request, 'enroll');
      enrollValidator.note(request, given);
      const fields = enrollValidator.fromJson(given);
      if (chooseSpeakerModel(analyser.status().speakerModels, config) === undefined)
        throw new ServiceError('NO_SPEAKER_MODEL');
      return create(request, fields, 'enroll', regionOf(fields));
    }
    validator.note(request, given);
    const fields = validator.fromJson(given);
    const { prediction_id: predictionId } = fields;
    const parameters = analysisParameters(fields, parts, callerOf(request).account);
    return create(request, fields, 'predict', {
      ...parameters,
      ...(predictionId !== undefined && { predictionId }),
    });
  };
}
