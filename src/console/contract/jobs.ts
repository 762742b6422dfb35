// SPDX-License-Identifier: Apache-2.0
import { prediction } from '../../base/contract/prediction.js';
import type { BodyOf, Schema } from '../../base/contract/schema.js';
import { moment, orNull } from '../../base/contract/schema-parts.js';
import { batchProgress, jobExample, jobPage, jobSummary } from '../../jobs/contract/job.js';
import { webhookLog } from '../../jobs/contract/webhook.js';

const ownProperties = {
  account: { type: 'string', description: 'Whose job it is.' },
  key_id: { type: 'string', description: 'Id of the key that created it.' },
  retryable: {
    type: 'boolean',
    description: 'Whether `retry` works: the job has failed, and its recording is a stored file.',
  },
} as const;

const summaryProperties = { ...jobSummary.properties, ...ownProperties } as const;
const summaryNames = [...jobSummary.required, 'account', 'key_id', 'retryable'] as const;

const example = { ...jobExample, account: 'acme', key_id: '0123456789ab', retryable: false } as const;

/** An entry of a list of the jobs of all accounts. */
const adminJobSummary = {
  title: 'AdminJobSummary',
  type: 'object',
  properties: summaryProperties,
  required: summaryNames,
  additionalProperties: false,
  examples: [example],
} as const satisfies Schema;

/** The parameters behind the verdict of a job. */
const jobParameters = {
  title: 'AdminJobParameters',
  type: 'object',
  properties: {
    model: { type: 'string', description: 'The detector, as the request named it.' },
    threshold: {
      type: 'number',
      description: 'The threshold, also if the request named an operating point.',
    },
    silence_threshold: {
      type: 'number',
      description: 'Windows with a higher percentage of non-speech are skipped.',
    },
    start: orNull('number', 'Start of the region in seconds; null for the whole recording.'),
    end: orNull('number', 'Its end; null for the end of the recording.'),
    separate_channels: { type: 'boolean', description: 'Whether each channel gets a verdict of its own.' },
  },
  required: ['model', 'threshold', 'silence_threshold', 'start', 'end', 'separate_channels'],
  additionalProperties: false,
} as const satisfies Schema;

const file = {
  title: 'AdminJobFile',
  type: 'object',
  properties: {
    entity: { type: 'string', description: 'Entity of the stored file.' },
    key: { type: 'string', description: 'Its key, which may be any text.' },
  },
  required: ['entity', 'key'],
  additionalProperties: false,
} as const satisfies Schema;

/** The answer of `GET /v1/admin/jobs/{id}`. */
export const adminJob = {
  title: 'AdminJob',
  type: 'object',
  properties: {
    ...summaryProperties,
    file: {
      description:
        'The stored file with the recording; null for links, and for jobs that have succeeded or were cancelled.',
      anyOf: [file, { type: 'null' }],
    },
    parameters: {
      description: 'Parameters of the verdict; null for other tasks.',
      anyOf: [jobParameters, { type: 'null' }],
    },
    result: {
      description:
        'The verdict, as `POST /v1/predict` answers it; null without one. Voiceprints are never shown here.',
      anyOf: [prediction, { type: 'null' }],
    },
    batch: {
      description: 'Counts of the lines of a batch; null for other tasks.',
      anyOf: [batchProgress, { type: 'null' }],
    },
  },
  required: [...summaryNames, 'file', 'parameters', 'result', 'batch'],
  additionalProperties: false,
  examples: [
    {
      ...example,
      file: { entity: 'analysis', key: 'day-4711.flac' },
      parameters: {
        model: 'apollo-4-5-2026-03-26',
        threshold: 0.5,
        silence_threshold: 75,
        start: null,
        end: null,
        separate_channels: false,
      },
      result: null,
      batch: null,
    },
  ],
} as const satisfies Schema;

/** The answer of `GET /v1/admin/jobs`, and the data of an event of `GET /v1/admin/jobs/events`. */
export const adminJobList = {
  ...jobPage('AdminJobList', adminJobSummary),
  examples: [{ jobs: [example], next_cursor: null }],
} as const satisfies Schema;

const delivery = {
  title: 'AdminDelivery',
  type: 'object',
  properties: {
    ...webhookLog.properties,
    job_id: { type: 'string', description: 'Id of the ended job.' },
    account: { type: 'string', description: 'Whose job it is.' },
    url: { type: 'string', description: 'Its address, without the query, which may contain a secret.' },
    created_at: { type: 'string', format: 'date-time', description: 'Time of the end of the job.' },
    finished_at: moment('Time of its delivery or failure; null before.'),
    attempt_count: {
      type: 'integer',
      description: 'All attempts, including those before a replay.',
      minimum: 0,
    },
  },
  required: [
    ...webhookLog.required,
    ...(['job_id', 'account', 'url', 'created_at', 'finished_at', 'attempt_count'] as const),
  ],
  additionalProperties: false,
} as const satisfies Schema;

const deliveryExample = {
  id: '6b1f3a52-6f0f-4b0e-9d6e-0f4a0b8a2d11',
  job_id: example.id,
  account: example.account,
  url: 'https://hooks.example.com/veravox',
  state: 'failed',
  created_at: '2026-11-22T10:05:00.000Z',
  next_attempt_at: null,
  finished_at: '2026-11-22T10:05:01.000Z',
  attempt_count: 1,
  attempts: [{ at: '2026-11-22T10:05:00.500Z', took_ms: 120, status: 410, problem: 'status 410' }],
} as const;

/** The answer of `POST /v1/admin/deliveries/{id}/replay`. */
export const adminDelivery = { ...delivery, examples: [deliveryExample] } as const satisfies Schema;

/** The answer of `GET /v1/admin/deliveries` and `GET /v1/admin/jobs/{id}/deliveries`. */
export const adminDeliveryList = {
  title: 'AdminDeliveryList',
  type: 'object',
  properties: { deliveries: { type: 'array', description: 'The newest first.', items: adminDelivery } },
  required: ['deliveries'],
  additionalProperties: false,
  examples: [{ deliveries: [deliveryExample] }],
} as const satisfies Schema;

export type AdminJobSummary = BodyOf<typeof adminJobSummary>;
export type AdminJob = BodyOf<typeof adminJob>;
export type AdminJobList = BodyOf<typeof adminJobList>;
export type AdminDelivery = BodyOf<typeof adminDelivery>;
export type AdminDeliveryList = BodyOf<typeof adminDeliveryList>;
