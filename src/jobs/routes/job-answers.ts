// SPDX-License-Identifier: Apache-2.0
import { jsonReply, type Reply, type RouteRequest } from '../../api/routes/route.js';
import type { Prediction } from '../../base/contract/prediction.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { DamagedValue } from '../../state/database/stored-json.js';
import { allows } from '../../state/keys/api-key.js';
import type { ObjectStorage } from '../../state/storage/object-storage.js';
import type { BatchProgress, JobBody, JobEnrollment, JobSummary } from '../contract/job.js';
import type { WebhookLog } from '../contract/webhook.js';
import { TooManyUploads } from '../queue/awaited-uploads.js';
import type { LoggedDelivery } from '../queue/delivery-table.js';
import {
  IdempotencyConflict,
  type Job,
  type ListedJob,
  type NewJob,
  NotRetryable,
  TooManyJobs,
} from '../queue/job.js';
import type { JobTable } from '../queue/job-table.js';
import { type JobSource, jobResult, ofJob } from '../queue/job-text.js';

/** @throws ServiceError FORBIDDEN if the key may not use such a job: voiceprints need another scope than verdicts. */
export function requireScope({ caller }: RouteRequest, task: Job['task']): void {
  const scope = 'voiceid';
  if (task === 'enroll' && (caller === undefined || !allows(caller.scopes, scope)))
    throw new ServiceError('FORBIDDEN', { scope });
}

const whyNot: Readonly<Record<NotRetryable['why'], string>> = {
  'not failed': 'it has not failed.',
  'no source': 'the server no longer knows where its recording lies. Make a new job.',
};

/** @throws ServiceError for the errors of a queue of jobs */
export async function answered<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof IdempotencyConflict) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
    if (error instanceof TooManyJobs) throw new ServiceError('TOO_MANY_JOBS');
    if (error instanceof TooManyUploads) throw new ServiceError('TOO_MANY_UPLOADS');
    if (error instanceof NotRetryable)
      throw new ServiceError('JOB_NOT_RETRYABLE', { why: whyNot[error.why] });
    throw error;
  }
}

const moment = (atMs: number | undefined): string | null =>
  atMs === undefined ? null : new Date(atMs).toISOString();

/** @param position of a queued job */
function summaryOf(job: ListedJob, position: number | undefined): JobSummary {
  return {
    id: job.id,
    task: job.task,
    state: job.state,
    created_at: new Date(job.createdAtMs).toISOString(),
    started_at: moment(job.startedAtMs),
    finished_at: moment(job.finishedAtMs),
    attempts: job.attempts,
    // It may have been taken since.
    queue_position: job.state === 'queued' && job.task !== 'batch' ? (position ?? 0) : null,
    audio_analysed: job.audioS,
    file_progress: job.fileProgress,
    error: job.failure === undefined ? null : { key: job.failure.code, message: job.failure.message },
  };
}

export async function summariesOf(jobs: JobTable, list: readonly ListedJob[]): Promise<JobSummary[]> {
  const positions = await jobs.positions(list);
  return list.map((job) => summaryOf(job, positions.get(job.id)));
}

/** All but how its end was told; in place of its result, null. */
export async function endingOf(
  jobs: JobTable,
  job: Job,
): Promise<Omit<JobBody, 'webhook'> & { readonly result: null }> {
  const positions = await jobs.positions([job]);
  const batch = job.task === 'batch' ? await progressOf(jobs, job) : null;
  return { ...summaryOf(job, positions.get(job.id)), result: null, batch };
}

/** Results of about an hour of audio fit. */
const LARGE_RESULT_BYTES = 128 * 1024;

/** Null for a batch, whose result is its progress. @throws DamagedValue */
export function smallResultOf({ id, task, result }: Job): JobBody['result'] | 'large' {
  if (task === 'batch' || result === undefined) return null;
  if (result.length > LARGE_RESULT_BYTES) return 'large';
  return jobResult<Prediction | JobEnrollment>(id, result);
}

async function progressOf(jobs: JobTable, job: Job): Promise<BatchProgress> {
  if (job.result !== undefined) return jobResult<BatchProgress>(job.id, job.result);
  const { lines, succeeded, failed } = await jobs.countLines(job.id);
  return { lines, succeeded, failed, result_key: null };
}

export async function jobReply(status: number, jobs: JobTable, job: Job): Promise<Reply> {
  const delivery = job.callbackUrl === undefined ? undefined : await jobs.deliveries.ofJob(job.id);
  const webhook = delivery === undefined ? null : webhookLogOf(delivery);
  return replyWithResult<JobBody>(status, { ...(await endingOf(jobs, job)), webhook }, job);
}

/**
 * A large result goes out as it is stored: to read and write the megabytes of a day's recording would hold up everybody else.
 * @throws DamagedValue, for a large result only if its end is missing
 */
export function replyWithResult<Body extends { readonly result: unknown }>(
  status: number,
  body: Body & { readonly result: null },
  job: Job,
): Reply {
  const result = smallResultOf(job);
  if (result !== 'large') return jsonReply(status, { ...body, result });
  if (!job.result?.endsWith('}')) throw new DamagedValue(ofJob(job, 'result'));
  const reply = jsonReply(status, body);
  // The first one: quotes inside of texts are escaped.
  return { ...reply, body: String(reply.body).replace('"result":null', () => `"result":${job.result}`) };
}

export const webhookLogOf = ({ id, state, dueAtMs, log }: LoggedDelivery): WebhookLog => ({
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

/** Storage in which a job's file must lie. */
export type FileLookup = Pick<ObjectStorage, 'openSource'>;

/** @throws ServiceError OBJECT_NOT_FOUND, STORAGE_UNAVAILABLE, STORAGE_FAILED */
async function refuseMissing(storage: FileLookup, source: JobSource | undefined): Promise<void> {
  if (source === undefined || !('object' in source)) return;
  const file = await storage.openSource(source.object);
  await file.close();
}

/**
 * Makes a job, or finds the earlier one.
 * @param source its input, if that is a file
 * @param path see `publicPath`
 * @throws ServiceError
 */
export const accepted = (
  jobs: JobTable,
  storage: FileLookup,
  source: JobSource | undefined,
  newJob: NewJob,
  path: string,
): Promise<Reply> =>
  answered(async () => {
    // The file of an earlier job may be gone by now.
    const earlier = await refuseMissing(storage, source).catch(async (reason: unknown) => {
      const job = await jobs.earlier(newJob);
      if (job === undefined) throw reason;
      return job;
    });
    const job = earlier ?? (await jobs.create(newJob)).job;
    return {
      ...(await jobReply(202, jobs, job)),
      headers: [['location', `${path}/v1/jobs/${job.id}`]],
    };
  });
