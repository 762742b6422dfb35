// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas, FieldValues } from '../../base/contract/fields.js';
import type { DetectorNames } from '../../base/contract/model-ids.js';
import { predictionId } from '../../base/contract/predict-fields.js';
import { backgroundAnalysisSchemas, sourceFieldSchemas } from './job-fields.js';

/** Of a manifest in the request itself. */
export const MAX_LINES_BYTES = 2 * 1024 * 1024;

/**
 * The body of `POST /v1/batches`.
 * @param detectors the available ones
 */
export function batchFieldSchemas(detectors: readonly DetectorNames[]) {
  const { prediction_id: _, presigned_url, key, entity, ...common } = backgroundAnalysisSchemas(detectors);
  return {
    lines: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_LINES_BYTES,
      expected: `a text of 1 to ${MAX_LINES_BYTES} characters`,
      description: 'The manifest itself: CSV or JSON lines. Either this, `key` or `presigned_url`.',
    },
    key: { ...key, description: 'Key of a stored manifest.' },
    entity: { ...entity, description: 'Entity of the stored manifest.' },
    presigned_url: { ...presigned_url, description: 'Link to the manifest, as for a recording.' },
    result_key: {
      ...key,
      description:
        'Key of the result, with the entity `results`; by default `batches/<id of the job>.jsonl`.',
    },
    ...common,
  } as const satisfies FieldSchemas;
}

export type BatchFields = FieldValues<ReturnType<typeof batchFieldSchemas>>;

/** A line of a manifest. */
export const lineFieldSchemas = {
  ...sourceFieldSchemas,
  prediction_id: predictionId,
} as const satisfies FieldSchemas;

export type LineFields = FieldValues<typeof lineFieldSchemas>;
