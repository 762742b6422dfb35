// SPDX-License-Identifier: Apache-2.0
import type { JobBody, JobSummary } from '../../base/contract/job.js';
import type { Prediction } from '../../base/contract/prediction.js';
import type { WebhookLog } from '../../base/contract/webhook.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { isUnavailable } from '../../state/database/database.js';
import { IdempotencyConflict, type Job, TooManyJobs } from '../../state/jobs/job.js';
import type { Jobs } from '../../state/jobs/jobs.js';
import type { LoggedDelivery } from '../../state/webhooks/deliveries.js';
import type { RouteRequest } from './route.js';

export function callerOf({ caller }: RouteRequest): { account: string; keyId: string } {
  if (caller === undefined) throw new Error('A request without a key reached /v1/jobs. This is a bug.');
  return { account: caller.account, keyId: caller.id };
}

/** @throws ServiceError for what a queue of jobs rejects with */
export async function answered<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof IdempotencyConflict) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
    if (error instanceof TooManyJobs) throw new ServiceError('TOO_MANY_JOBS');
    if (isUnavailable(error)) throw new ServiceError('DATABASE_UNAVAILABLE', {}, { cause: error });
    throw error;
  }
}

const moment = (atMs: number | undefined): string | null =>
  atMs === undefined ? null : new Date(atMs).toISOString();

/** @param position of a queued job */
export function summaryOf(job: Job, position: number | undefined): JobSummary {
  return {
    id: job.id,
    state: job.state,
    created_at: new Date(job.createdAtMs).toISOString(),
    started_at: moment(job.startedAtMs),
    finished_at: moment(job.finishedAtMs),
    attempts: job.attempts,
    // It may have been taken since.
    queue_position: job.state === 'queued' ? (position ?? 0) : null,
    audio_analysed: job.audioS,
    file_progress: job.fileProgress,
    error: job.failure === undefined ? null : { key: job.failure.code, message: job.failure.message },
  };
}

export async function summariesOf(jobs: Jobs, list: readonly Job[]): Promise<JobSummary[]> {
  const positions = await jobs.positions(list);
  return list.map((job) => summaryOf(job, positions.get(job.id)));
}

/** All but how its end was told. */
export async function endingOf(jobs: Jobs, job: Job): Promise<Omit<JobBody, 'webhook'>> {
  const positions = await jobs.positions([job]);
  const result = job.result === undefined ? null : (JSON.parse(job.result) as Prediction);
  return { ...summaryOf(job, positions.get(job.id)), result };
}

export async function bodyOf(jobs: Jobs, job: Job): Promise<JobBody> {
  const delivery = job.callbackUrl === undefined ? undefined : await jobs.deliveries.ofJob(job.id);
  return { ...(await endingOf(jobs, job)), webhook: delivery === undefined ? null : webhookLogOf(delivery) };
}

const webhookLogOf = ({ id, state, dueAtMs, log }: LoggedDelivery): WebhookLog => ({
  id,
  state,
  next_attempt_at: moment(dueAtMs),
  attempts: log.map(({ atMs, tookMs, status, problem }) => ({
    at: new Date(atMs).toISOString(),
    took_ms: tookMs,
    status: status ?? null,
    problem: problem ?? null,
  })),
});
