// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas, FieldValues } from '../../base/contract/fields.js';
import { ANALYSIS_ENTITY, uploadLinkSchemas } from '../../base/contract/file-fields.js';
import { MAX_KEY_BYTES } from '../../base/contract/limits.js';
import { LINK_FIELD } from '../../base/contract/link-field.js';
import type { DetectorNames } from '../../base/contract/model-ids.js';
import { KEY } from '../../base/contract/object-key.js';
import type { Fields } from '../../base/contract/operation.js';
import { CURSOR } from '../../base/contract/paging.js';
import { predictFieldSchemas } from '../../base/contract/predict-fields.js';
import { regionFieldSchemas } from '../../base/contract/region-fields.js';
import { enrollSamplesFieldSchemas } from '../../base/contract/voice-fields.js';

export const jobStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

const MAX_PAGE = 100;

/** The place of a recording. */
export const sourceFieldSchemas = {
  [LINK_FIELD]: {
    type: 'string',
    maxLength: 8192,
    expected: 'a string of at most 8192 characters',
    description:
      'Link to the recording: to the object storage, or to a host that the operator allows. Either this or `key`.',
  },
  key: {
    type: 'string',
    maxLength: MAX_KEY_BYTES,
    pattern: KEY.source,
    expected: uploadLinkSchemas.keys.items.expected,
    description: 'Key of a stored file. Either this or `presigned_url`.',
  },
  entity: {
    ...uploadLinkSchemas.entity,
    default: ANALYSIS_ENTITY,
    description: 'Entity of the stored file.',
  },
} as const satisfies FieldSchemas;

const taskFieldSchema = {
  type: 'string',
  enum: ['predict', 'enroll'],
  default: 'predict',
  expected: 'predict or enroll',
  description:
    'With `enroll`, the result is a voiceprint, as `POST /v1/voiceid/enroll` answers it. Of the fields for analyses, only `start` and `end` apply then, and the key also needs the scope `voiceid`.',
} as const;

/** Of everything that happens in the background. */
const backgroundFieldSchemas = {
  idempotency_key: {
    type: 'string',
    minLength: 1,
    maxLength: 128,
    pattern: '^[A-Za-z0-9._:-]+$',
    expected: '1 to 128 of the characters A-Z a-z 0-9 . _ : -',
    description: 'Two requests with the same value make one job.',
  },
  callback_url: {
    type: 'string',
    maxLength: 2048,
    expected: 'a string of at most 2048 characters',
    description:
      'Link to which the server posts the end of the job: to a host that the operator allows (docs/webhooks.md).',
  },
} as const satisfies FieldSchemas;

/**
 * The fields of jobs and batches for analyses.
 * @param detectors the available ones
 */
export const backgroundAnalysisSchemas = (detectors: readonly DetectorNames[]) =>
  ({
    ...sourceFieldSchemas,
    ...backgroundFieldSchemas,
    ...predictFieldSchemas(detectors),
  }) as const satisfies FieldSchemas;

/**
 * The body of `POST /v1/jobs`.
 * @param detectors the available ones
 */
export const jobFieldSchemas = (detectors: readonly DetectorNames[]) =>
  ({
    ...backgroundAnalysisSchemas(detectors),
    task: taskFieldSchema,
    ...enrollSamplesFieldSchemas,
  }) as const satisfies FieldSchemas;

/** The same with the task `enroll`. */
export const enrollJobFieldSchemas = {
  ...sourceFieldSchemas,
  ...backgroundFieldSchemas,
  task: taskFieldSchema,
  ...regionFieldSchemas,
  ...enrollSamplesFieldSchemas,
} as const satisfies FieldSchemas;

export type JobFields = FieldValues<ReturnType<typeof jobFieldSchemas>>;
export type EnrollJobFields = FieldValues<typeof enrollJobFieldSchemas>;

/** The query of `GET /v1/jobs`. */
export const jobListSchemas = {
  state: {
    type: 'string',
    enum: jobStates,
    expected: `one of ${jobStates.join(', ')}`,
    description: 'Only jobs in this state.',
  },
  limit: {
    type: 'string',
    maxLength: 3,
    pattern: '^([1-9][0-9]?|100)$',
    default: '20',
    expected: `a number from 1 to ${MAX_PAGE}`,
    description: 'Jobs per page.',
  },
  cursor: CURSOR,
} as const satisfies FieldSchemas;

export const jobListRequest = {
  schemas: jobListSchemas,
  example: { state: 'succeeded', limit: '20' },
} as const satisfies Fields;

export type JobListFields = FieldValues<typeof jobListSchemas>;
