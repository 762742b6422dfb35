// SPDX-License-Identifier: Apache-2.0
import { FieldValidator } from '../../api/routes/form-fields.js';
import { isClientFault } from '../../base/errors/client-fault.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { type LineFields, lineFieldSchemas } from '../contract/batch-fields.js';
import type { NewLine } from '../queue/batch-lines.js';
import type { Job } from '../queue/job.js';
import { jobParameters } from '../queue/job-text.js';
import { homeOf, jobSourceOf, type SourceParts } from '../routes/job-source.js';
import type { ManifestRecord } from './manifest-records.js';

const MAX_SHOWN_CHARS = 1024;
const validator = new FieldValidator<LineFields>({ schemas: lineFieldSchemas });

/** Makes work of a line, or says why there is none. Other lines go on. */
export async function newLine(record: ManifestRecord, batch: Job, parts: SourceParts): Promise<NewLine> {
  try {
    if (record === undefined)
      throw new ServiceError('JSON_MALFORMED', { problem: 'the line is not an object.' });
    const fields = validator.fromJson(record);
    const parameters = {
      ...jobParameters(batch),
      ...(fields.prediction_id !== undefined && { predictionId: fields.prediction_id }),
    };
    const source = await jobSourceOf(fields, batch.account, parts);
    return {
      label: labelOf(record),
      work: {
        source: JSON.stringify(source),
        home: homeOf(source, parts.files),
        parameters: JSON.stringify(parameters),
      },
    };
  } catch (error) {
    if (!(error instanceof ServiceError) || !isClientFault(error.status)) throw error;
    return { label: labelOf(record), work: { failure: { code: error.key, message: error.message } } };
  }
}

/** The line's name in the result: its key, or its link without the query, which holds a signature. */
function labelOf(record: ManifestRecord): string {
  const { key, presigned_url: link } = record ?? {};
  const text = (value: unknown): string => String(value).slice(0, MAX_SHOWN_CHARS);
  return JSON.stringify({
    ...(typeof key === 'string' && { key: text(key) }),
    ...(typeof link === 'string' && { presigned_url: text(link.replace(/[?#].*$/s, '')) }),
  });
}
