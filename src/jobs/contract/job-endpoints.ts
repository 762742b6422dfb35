// SPDX-License-Identifier: Apache-2.0
import type { Endpoint } from '../../base/contract/endpoint.js';
import { jsonErrors, storageErrors } from '../../base/contract/error-groups.js';
import { DEFAULT_SILENCE_THRESHOLD_PERCENT, DEFAULT_THRESHOLD } from '../../base/contract/limits.js';
import type { DetectorNames } from '../../base/contract/model-ids.js';
import type { Operation } from '../../base/contract/operation.js';
import { batchFieldSchemas } from './batch-fields.js';
import { job, jobList } from './job.js';
import { jobFieldSchemas, jobListRequest } from './job-fields.js';

/** @param detectors the available ones */
export const jobEndpoints = (detectors: readonly DetectorNames[]): readonly Endpoint[] => [
  jobCreation(detectors),
  batchCreation(detectors),
  jobListing,
  jobLookup,
  jobCancellation,
  jobEvents,
];

const common = { scope: 'predict' } as const;
const one = {
  ...common,
  path: '/v1/jobs/',
  parameter: { name: 'id', description: 'Id of the job.', example: '0b5c2f6e-8f0e-4c55-9d4f-2f1d5a3c7e90' },
} as const;

const answersWithJob: Pick<Operation, 'answers' | 'errors'> = {
  answers: { 200: { description: 'The job.', schema: job } },
  errors: ['JOB_NOT_FOUND', 'DATABASE_UNAVAILABLE'],
};
const jobCreationErrors = [
  ...jsonErrors,
  'FIELD_INVALID',
  'FETCH_HOST_REFUSED',
  'FETCH_ADDRESS_REFUSED',
  'FETCH_STATUS_REFUSED',
  'WEBHOOK_HOST_REFUSED',
  'WEBHOOK_ADDRESS_REFUSED',
  'WEBHOOK_SECRET_MISSING',
  'IDEMPOTENCY_KEY_REUSED',
  'OBJECT_NOT_FOUND',
  ...storageErrors,
  'TOO_MANY_JOBS',
  'DATABASE_UNAVAILABLE',
] as const;

export const jobCreation = (detectors: readonly DetectorNames[]): Endpoint => ({
  ...common,
  method: 'POST',
  path: '/v1/jobs',
  operation: {
    id: 'createJob',
    tag: 'Jobs',
    summary: 'Analyse a recording of any length in the background, or enrol a voice.',
    description:
      'The recording lies behind a link or in the storage, and is read in parts. Short requests go first. The result is kept for a limited time. ' +
      'With the task `enroll`, it is a voice sample, and the key also needs the scope `voiceid`.',
    json: {
      title: 'JobFields',
      schemas: jobFieldSchemas(detectors),
      example: {
        key: 'day-4711.flac',
        threshold: DEFAULT_THRESHOLD,
        silence_threshold: DEFAULT_SILENCE_THRESHOLD_PERCENT,
        idempotency_key: 'day-4711',
      },
    },
    answers: {
      202: {
        description: 'The job, queued, or the earlier job with the same `idempotency_key`.',
        schema: job,
        headers: { location: 'Path of the job.' },
      },
    },
    errors: [...jobCreationErrors, 'NO_SPEAKER_MODEL'],
  },
});

export const batchCreation = (detectors: readonly DetectorNames[]): Endpoint => ({
  ...common,
  method: 'POST',
  path: '/v1/batches',
  operation: {
    id: 'createBatch',
    tag: 'Jobs',
    summary: 'Analyse many recordings as one job.',
    description:
      'A manifest names them, one per line. Single jobs go first. The result is a stored file with one line of JSON per line of the manifest.',
    json: {
      title: 'BatchFields',
      schemas: batchFieldSchemas(detectors),
      example: { lines: 'key\nday-1.flac\nday-2.flac\n', threshold: DEFAULT_THRESHOLD },
    },
    answers: {
      202: {
        description: 'The job, or the earlier one with the same `idempotency_key`.',
        schema: job,
        headers: { location: 'Path of the job.' },
      },
    },
    errors: jobCreationErrors,
  },
});

export const jobListing: Endpoint = {
  ...common,
  method: 'GET',
  path: '/v1/jobs',
  operation: {
    id: 'listJobs',
    tag: 'Jobs',
    summary: "List the account's jobs.",
    query: jobListRequest,
    answers: { 200: { description: 'A page of jobs.', schema: jobList } },
    errors: ['FIELD_INVALID', 'FIELD_REPEATED', 'DATABASE_UNAVAILABLE'],
  },
};

export const jobLookup: Endpoint = {
  ...one,
  method: 'GET',
  operation: {
    id: 'getJob',
    tag: 'Jobs',
    summary: 'Progress and result of a job.',
    ...answersWithJob,
  },
};

export const jobCancellation: Endpoint = {
  ...one,
  method: 'DELETE',
  operation: {
    id: 'cancelJob',
    tag: 'Jobs',
    summary: 'Cancel a job.',
    description: 'Work on it ends within seconds. A job that has ended stays as it is.',
    ...answersWithJob,
  },
};

export const jobEvents: Endpoint = {
  ...one,
  method: 'GET',
  path: '/v1/jobs/{id}/events',
  operation: {
    id: 'followJob',
    tag: 'Jobs',
    summary: 'Follow the progress of a job.',
    description:
      'Server-sent events of the type `job`, each with a `JobSummary`: the current one at once, then one for each change, until the job has ended.',
    answers: { 200: { description: 'The events.', contentType: 'text/event-stream' } },
    errors: ['JOB_NOT_FOUND', 'DATABASE_UNAVAILABLE'],
  },
};
