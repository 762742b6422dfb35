// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import type { jobStates } from '../contract/job-fields.js';

const jobTasks = ['predict', 'enroll', 'batch'] as const;
export type JobTask = (typeof jobTasks)[number];

/** The last three are final. A job whose worker died is `queued` again. */
export type JobState = (typeof jobStates)[number];

/** A job as asked for. */
export interface NewJob {
  readonly account: string;
  readonly keyId: string;
  readonly task: JobTask;
  /** JSON: where the recording lies. May hold a presigned link, which is a secret. Erased at the end; the name of a stored file stays if the job failed. */
  readonly source: string;
  /** Of a stored file: where it lies, and so who can work on it. */
  readonly home?: string | undefined;
  /** JSON: what a synchronous request would say. */
  readonly parameters: string;
  readonly callbackUrl?: string | undefined;
  /** The same key with the same request, within the retention, gives the same job. */
  readonly idempotencyKey?: string | undefined;
  /** Of the request that makes it: the trace that it belongs to. */
  readonly traceparent?: string | undefined;
  /** Of a batch, if it came with the request. */
  readonly manifest?: string | undefined;
}

export interface Job extends Omit<NewJob, 'idempotencyKey' | 'manifest'> {
  readonly id: string;
  readonly state: JobState;
  /** Of a line of a batch. */
  readonly batchId?: string | undefined;
  readonly createdAtMs: number;
  readonly startedAtMs?: number | undefined;
  readonly finishedAtMs?: number | undefined;
  /** The number of times that a worker began with it. */
  readonly attempts: number;
  /** Seconds of audio up to the last saved step. */
  readonly audioS: number;
  /** Share of the file's bytes that were read, 0..1. */
  readonly fileProgress: number;
  /** JSON: of a job that succeeded, and the counts of a batch that is over. */
  readonly result?: string | undefined;
  /** Of a job that failed, and of one that will be tried again. */
  readonly failure?: JobFailure | undefined;
}

/** Of one among many: their results together may have gigabytes. */
export type ListedJob = Omit<Job, 'result'>;

export interface JobFailure {
  /** Of the catalogue of errors. */
  readonly code: string;
  readonly message: string;
}

/** Of one whose workers died. */
export const workerDied: JobFailure = {
  code: 'WORKER_DIED',
  message: new ServiceError('WORKER_DIED').message,
};

/** A job in the hands of a worker. */
export interface Work {
  readonly job: Job;
  /** Changes are refused once somebody else holds the job. */
  readonly holder: string;
  /** JSON, as it was saved with the last step. */
  readonly cursor: string | undefined;
  readonly savedSteps: number;
  /** This one included; a job that an operator has begin anew has all of them again. */
  readonly tries: number;
  /** Its worker seems dead: changes are refused if the lease was renewed meanwhile. */
  readonly isOverdue?: boolean;
}

/** The job is in other hands, over, or cancelled: its worker must stop and save nothing. */
export class WorkLost extends Error {
  override readonly name = 'WorkLost';
}

/** The key was used for another request. */
export class IdempotencyConflict extends Error {
  override readonly name = 'IdempotencyConflict';
}

/** Only a failed job whose file is known can be tried again. */
export class NotRetryable extends Error {
  override readonly name = 'NotRetryable';
  readonly why: 'not failed' | 'no source';

  constructor(why: NotRetryable['why']) {
    super(`The job cannot be tried again: ${why}.`);
    this.why = why;
  }
}

/** The account has as many unfinished jobs as it may have. */
export class TooManyJobs extends Error {
  override readonly name = 'TooManyJobs';
}
