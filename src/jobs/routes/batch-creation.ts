// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { FieldValidator } from '../../api/routes/form-fields.js';
import { refuseUnstorableKey } from '../../api/routes/link-fields.js';
import { callerOf, type Reply, type RouteRequest } from '../../api/routes/route.js';
import { receiveJson } from '../../api/upload/json-body.js';
import { publicPath } from '../../base/config/public-path.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { type BatchFields, batchFieldSchemas, MAX_LINES_BYTES } from '../contract/batch-fields.js';
import type { BatchSource } from '../queue/job-text.js';
import { accepted } from './job-answers.js';
import type { JobRouteParts } from './job-creation.js';
import { analysisParameters } from './job-parameters.js';
import { jobSourceOf, refuseUnsendable } from './job-source.js';

const RESULTS_ENTITY = 'results';

/** `POST /v1/batches`. */
export function batchCreator(parts: JobRouteParts) {
  const { jobs, analyser, files } = parts;
  const { receiveTimeoutMs } = parts.config;
  const validator = new FieldValidator<BatchFields>({
    schemas: batchFieldSchemas(analyser.status().detectors),
  });

  async function sourceOf(fields: BatchFields, account: string): Promise<BatchSource> {
    const resultKey = fields.result_key;
    if (resultKey !== undefined) refuseUnstorableKey('result_key', resultKey);
    const folder = files.folderOf(account);
    const result = {
      resultFolder: `${folder}/${RESULTS_ENTITY}`,
      ...(resultKey !== undefined && { resultKey }),
    };
    const { lines } = fields;
    if (lines === undefined) return { ...result, manifest: await jobSourceOf(fields, account, parts) };
    if (fields.key !== undefined || fields.presigned_url !== undefined) {
      throw new ServiceError('FIELD_INVALID', {
        field: 'lines, presigned_url and key',
        expected: 'one of the three',
        received: 'more',
      });
    }
    return { ...result, sha256: createHash('sha256').update(lines).digest('hex') };
  }

  return async (request: RouteRequest): Promise<Reply> => {
    const limits = { maxBytes: 2 * MAX_LINES_BYTES, receiveTimeoutMs };
    const given = await receiveJson(request.body, request.contentType, limits);
    validator.note(request, given);
    const fields = validator.fromJson(given);
    const { account, keyId } = callerOf(request);
    const { callback_url } = fields;
    if (callback_url !== undefined) await refuseUnsendable(parts, callback_url, account);
    const parameters = analysisParameters(fields, parts, account);
    const source = await sourceOf(fields, account);
    return accepted(
      jobs,
      files.storage,
      source.manifest,
      {
        account,
        keyId,
        task: 'batch',
        source: JSON.stringify(source),
        // The result is also stored.
        home: files.home,
        parameters: JSON.stringify(parameters),
        manifest: fields.lines,
        callbackUrl: callback_url,
        idempotencyKey: fields.idempotency_key,
        traceparent: request.record.trace?.traceparent,
      },
      publicPath(parts.config),
    );
  };
}
