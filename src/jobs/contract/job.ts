// SPDX-License-Identifier: Apache-2.0
import { nextCursor } from '../../base/contract/paging.js';
import { prediction } from '../../base/contract/prediction.js';
import type { BodyOf } from '../../base/contract/schema.js';
import { failureProperties, moment } from '../../base/contract/schema-parts.js';
import { enrollment, enrollmentProperties } from '../../base/contract/voice-identity.js';
import { jobStates } from './job-fields.js';
import { webhookLog } from './webhook.js';

const properties = {
  id: {
    type: 'string',
    description: 'Id of the job.',
    pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  },
  task: {
    type: 'string',
    description: '`batch` for a list of recordings (docs/batches.md).',
    enum: ['predict', 'enroll', 'batch'],
  },
  state: {
    type: 'string',
    description: '`succeeded`, `failed` and `cancelled` are final.',
    enum: jobStates,
  },
  created_at: { type: 'string', format: 'date-time', description: 'Time of the request.' },
  started_at: moment('Time of the first start; null before.'),
  finished_at: moment('Time of the end; null before.'),
  attempts: { type: 'integer', description: 'Number of starts.', minimum: 0 },
  queue_position: {
    type: ['integer', 'null'],
    description: 'Jobs of all accounts that go first; null unless the job is queued.',
    minimum: 0,
  },
  audio_analysed: {
    type: 'number',
    description: 'Seconds of audio that are analysed and saved.',
    minimum: 0,
  },
  file_progress: {
    type: 'number',
    description: 'Share of the file that was read, 0 to 1.',
    minimum: 0,
    maximum: 1,
  },
  error: {
    type: ['object', 'null'],
    description: 'Why the job failed, or why its last attempt did; null without a failure.',
    properties: failureProperties,
    required: ['key', 'message'],
    additionalProperties: false,
  },
} as const;

const names = Object.keys(properties) as readonly (keyof typeof properties)[];

export const jobExample = {
  id: '0b5c2f6e-8f0e-4c55-9d4f-2f1d5a3c7e90',
  task: 'predict',
  state: 'running',
  created_at: '2026-11-22T10:00:00.000Z',
  started_at: '2026-11-22T10:00:04.000Z',
  finished_at: null,
  attempts: 1,
  queue_position: null,
  audio_analysed: 3600,
  file_progress: 0.25,
  error: null,
} as const;

/** An entry of a list of jobs. */
export const jobSummary = {
  title: 'JobSummary',
  type: 'object',
  properties,
  required: names,
  additionalProperties: false,
} as const;

const count = (description: string) => ({ type: 'integer', description, minimum: 0 }) as const;

/** Of a batch (docs/batches.md). */
export const batchProgress = {
  title: 'BatchProgress',
  type: 'object',
  properties: {
    lines: count('Lines of the manifest that were read.'),
    succeeded: count('Lines with a verdict.'),
    failed: count('Lines that failed or were cancelled.'),
    result_key: {
      type: ['string', 'null'],
      description: 'Key of the result, with the entity `results`; null before the end.',
      minLength: 1,
    },
  },
  required: ['lines', 'succeeded', 'failed', 'result_key'],
  additionalProperties: false,
} as const;

export type BatchProgress = BodyOf<typeof batchProgress>;

/** Of a job that enrolled a voice: the answer of a request, and the facts in its headers. */
const jobEnrollment = {
  ...enrollment,
  title: 'JobEnrollment',
  properties: {
    ...enrollmentProperties,
    deepfake_flagged: {
      type: 'number',
      description: 'The score, if an AI-generated voice was enrolled nevertheless; absent otherwise.',
      minimum: 0,
      maximum: 1,
    },
    warnings: {
      type: 'array',
      items: { type: 'string' },
      description: 'One sentence on each part of the recording that was not heard; absent if all was heard.',
    },
  },
} as const;

export type JobEnrollment = BodyOf<typeof jobEnrollment>;

/** The answer of `POST /v1/jobs`, `GET /v1/jobs/{id}` and `DELETE /v1/jobs/{id}` (docs/jobs.md). */
export const job = {
  title: 'Job',
  type: 'object',
  properties: {
    ...properties,
    result: {
      description:
        'The verdict, as `POST /v1/predict` answers it, or the voiceprint of an enrolment; null unless the job has succeeded.',
      anyOf: [prediction, jobEnrollment, { type: 'null' }],
    },
    batch: {
      description: 'Counts of the lines of a batch; null for other jobs.',
      anyOf: [batchProgress, { type: 'null' }],
    },
    webhook: {
      description:
        'How the end of the job was posted to its `callback_url`; null without one, and before the end.',
      anyOf: [webhookLog, { type: 'null' }],
    },
  },
  required: [...names, 'result', 'batch', 'webhook'],
  additionalProperties: false,
  examples: [{ ...jobExample, result: null, batch: null, webhook: null }],
} as const;

/** A page of a list of jobs. @param item an entry */
export const jobPage = <const Title extends string, const Item extends object>(title: Title, item: Item) =>
  ({
    title,
    type: 'object',
    properties: {
      jobs: { type: 'array', description: 'The newest first, without results.', items: item },
      next_cursor: nextCursor,
    },
    required: ['jobs', 'next_cursor'],
    additionalProperties: false,
  }) as const;

/** The answer of `GET /v1/jobs`. */
export const jobList = {
  ...jobPage('JobList', jobSummary),
  examples: [{ jobs: [jobExample], next_cursor: null }],
} as const;

export type JobSummary = BodyOf<typeof jobSummary>;
export type JobBody = BodyOf<typeof job>;
export type JobList = BodyOf<typeof jobList>;
