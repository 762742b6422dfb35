// SPDX-License-Identifier: Apache-2.0
import type { AdminEndpoint } from '../../base/contract/endpoint.js';
import { adminJobListRequest, adminJobWatchRequest, deliveryListRequest } from './job-fields.js';
import { adminDelivery, adminDeliveryList, adminJob, adminJobList } from './jobs.js';

const parameter = {
  name: 'id',
  description: 'Id of the job.',
  example: '0b5c2f6e-8f0e-4c55-9d4f-2f1d5a3c7e90',
} as const;

const reading = { method: 'GET', role: 'viewer' } as const;
const acting = { method: 'POST', role: 'developer' } as const;

export const adminJobListing: AdminEndpoint = {
  ...reading,
  path: '/v1/admin/jobs',
  operation: {
    id: 'listAdminJobs',
    tag: 'Admin',
    summary: 'List the jobs of all accounts, or of your own.',
    query: adminJobListRequest,
    answers: { 200: { description: 'A page of jobs.', schema: adminJobList } },
    errors: ['FIELD_INVALID', 'FIELD_REPEATED'],
  },
};

export const adminJobsEvents: AdminEndpoint = {
  ...reading,
  path: '/v1/admin/jobs/events',
  operation: {
    id: 'followAdminJobs',
    tag: 'Admin',
    summary: 'Follow the list of jobs.',
    description:
      'Server-sent events of the type `jobs`, each with an `AdminJobList`: the first page at once, then again after changes, ' +
      'at most once a second. The stream ends after a minute; browsers reconnect automatically.',
    query: adminJobWatchRequest,
    answers: { 200: { description: 'The events.', contentType: 'text/event-stream' } },
    errors: ['FIELD_INVALID', 'FIELD_REPEATED'],
  },
};

export const adminJobLookup: AdminEndpoint = {
  ...reading,
  path: '/v1/admin/jobs/',
  parameter,
  operation: {
    id: 'getAdminJob',
    tag: 'Admin',
    summary: 'Progress and result of a job.',
    answers: { 200: { description: 'The job.', schema: adminJob } },
    errors: ['JOB_NOT_FOUND'],
  },
};

export const adminJobEvents: AdminEndpoint = {
  ...reading,
  path: '/v1/admin/jobs/{id}/events',
  parameter,
  operation: {
    id: 'followAdminJob',
    tag: 'Admin',
    summary: 'Follow the progress of a job.',
    description:
      'Server-sent events of the type `job`, each with a `JobSummary`: the current one at once, then one per change until the job ' +
      'ends, for at most a minute.',
    answers: { 200: { description: 'The events.', contentType: 'text/event-stream' } },
    errors: ['JOB_NOT_FOUND'],
  },
};

export const adminJobCancellation: AdminEndpoint = {
  ...acting,
  path: '/v1/admin/jobs/{id}/cancel',
  parameter,
  operation: {
    id: 'cancelAdminJob',
    tag: 'Admin',
    summary: 'Cancel a job.',
    description: 'It stops within seconds. An ended job does not change.',
    answers: { 200: { description: 'The job.', schema: adminJob } },
    errors: ['JOB_NOT_FOUND'],
  },
};

export const adminJobRetry: AdminEndpoint = {
  ...acting,
  path: '/v1/admin/jobs/{id}/retry',
  parameter,
  operation: {
    id: 'retryAdminJob',
    tag: 'Admin',
    summary: 'Retry a failed job.',
    description:
      'The same job is queued again with five further attempts, and starts from the beginning of its recording. This needs a stored file: the link ' +
      'of a job is a secret, and the server erases it when the job ends. An undelivered webhook of the earlier end is withdrawn, ' +
      'and the next end has its own. A queued or running job does not change.',
    answers: { 200: { description: 'The job.', schema: adminJob } },
    errors: ['JOB_NOT_FOUND', 'JOB_NOT_RETRYABLE', 'TOO_MANY_JOBS'],
  },
};

export const adminJobDeliveries: AdminEndpoint = {
  ...reading,
  path: '/v1/admin/jobs/{id}/deliveries',
  parameter,
  operation: {
    id: 'listAdminJobDeliveries',
    tag: 'Admin',
    summary: 'The webhook of a job, with its attempts.',
    description: 'Empty for a job without `callback_url`, and before its end.',
    answers: { 200: { description: 'At most one.', schema: adminDeliveryList } },
    errors: ['JOB_NOT_FOUND'],
  },
};

export const deliveryListing: AdminEndpoint = {
  ...reading,
  path: '/v1/admin/deliveries',
  operation: {
    id: 'listAdminDeliveries',
    tag: 'Admin',
    summary: 'List webhooks, for example failed ones.',
    query: deliveryListRequest,
    answers: { 200: { description: 'The newest ones.', schema: adminDeliveryList } },
    errors: ['FIELD_INVALID', 'FIELD_REPEATED'],
  },
};

export const deliveryReplay: AdminEndpoint = {
  ...acting,
  path: '/v1/admin/deliveries/{id}/replay',
  parameter: { ...parameter, description: 'Id of the delivery.' },
  operation: {
    id: 'replayAdminDelivery',
    tag: 'Admin',
    summary: 'Send a webhook again.',
    description:
      'Under its old `webhook-id`, with a new schedule. One that is still waiting does not change.',
    answers: { 200: { description: 'The delivery.', schema: adminDelivery } },
    errors: ['DELIVERY_NOT_FOUND'],
  },
};

export const adminJobEndpoints: readonly AdminEndpoint[] = [
  adminJobListing,
  adminJobsEvents,
  adminJobLookup,
  adminJobEvents,
  adminJobCancellation,
  adminJobRetry,
  adminJobDeliveries,
  deliveryListing,
  deliveryReplay,
];
