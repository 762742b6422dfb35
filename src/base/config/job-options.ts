// SPDX-License-Identifier: Apache-2.0
import { parseAllowedHost } from './allowed-host.js';
import { choice, integer, list, MEBIBYTE } from './option.js';
import { PRIVATE_HOST, parsePrivateHost } from './private-host.js';

/** Jobs: analyses that outlive their request (docs/jobs.md). */
export const jobOptions = {
  jobWorkers: integer({
    variable: 'VERAVOX_JOB_WORKERS',
    default: 1,
    minimum: 0,
    maximum: 64,
    unit: 'jobs',
    description:
      'Jobs that each process of the server runs at once; one more for an account without a running job. Requests always go first. With 0, other hosts with the same database run the jobs.',
  }),
  analyseUploads: choice({
    variable: 'VERAVOX_ANALYSE_UPLOADS',
    choices: ['off', 'large', 'all'],
    default: 'large',
    description:
      'Files that are analysed as jobs when they arrive through a link with the entity `analysis`: none, those of 100 MB and more, or all. The result becomes the file of the same key with the entity `results`.',
  }),
  maxJobBytes: integer({
    variable: 'VERAVOX_MAX_JOB_BYTES',
    default: 5120 * MEBIBYTE,
    minimum: 1024,
    maximum: 5_497_558_138_880,
    unit: 'bytes',
    description:
      'Largest file of a job, and of an upload through a link to the data folder. Jobs with a larger one fail; such uploads are refused with 413.',
  }),
  accountMaxJobs: integer({
    variable: 'VERAVOX_ACCOUNT_MAX_JOBS',
    default: 1000,
    minimum: 0,
    maximum: 1_000_000,
    unit: 'jobs',
    description:
      'Queued and running jobs of one account; further ones are refused with 429. 0 means no limit.',
  }),
  accountMaxKeptJobs: integer({
    variable: 'VERAVOX_ACCOUNT_MAX_KEPT_JOBS',
    default: 1_000_000,
    minimum: 0,
    maximum: 1_000_000_000,
    unit: 'jobs',
    description:
      'Finished jobs of one account in the database. Beyond it, the ones that ended first are removed before VERAVOX_JOB_RETENTION_DAYS have passed, but none within an hour of its end. 0 means no limit.',
  }),
  jobRetentionDays: integer({
    variable: 'VERAVOX_JOB_RETENTION_DAYS',
    default: 7,
    minimum: 0,
    maximum: 36_500,
    unit: 'days',
    description:
      'Time to keep a job and its result after its end, in days on which a server ran; 0 keeps all.',
  }),
  webhookHosts: list({
    variable: 'VERAVOX_WEBHOOK_HOSTS',
    accepts: '`[scheme://][*.]name[:port]`, names only (addresses: VERAVOX_WEBHOOK_PRIVATE_HOSTS)',
    parseItem: parseAllowedHost,
    description:
      'Hosts allowed in `callback_url`; https unless the entry says http. Private addresses are refused unless VERAVOX_WEBHOOK_PRIVATE_HOSTS has them.',
  }),
  webhookPrivateHosts: list({
    variable: 'VERAVOX_WEBHOOK_PRIVATE_HOSTS',
    accepts: PRIVATE_HOST,
    parseItem: parsePrivateHost,
    description:
      'Private hosts allowed in `callback_url`, by http and https, under the rules of VERAVOX_FETCH_PRIVATE_HOSTS.',
  }),
};
