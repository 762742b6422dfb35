// SPDX-License-Identifier: Apache-2.0
import type { Reply } from '../../api/routes/route.js';
import type { LoggedDelivery } from '../../jobs/queue/delivery-table.js';
import { destinationOf } from '../../jobs/queue/destination.js';
import type { Job, ListedJob } from '../../jobs/queue/job.js';
import type { JobPage, JobTable } from '../../jobs/queue/job-table.js';
import { canRetry, jobParameters, jobSource } from '../../jobs/queue/job-text.js';
import { endingOf, replyWithResult, summariesOf, webhookLogOf } from '../../jobs/routes/job-answers.js';
import type { AdminDelivery, AdminJob, AdminJobList, AdminJobSummary } from '../contract/jobs.js';

const ownPart = (job: ListedJob): Pick<AdminJobSummary, 'account' | 'key_id' | 'retryable'> => ({
  account: job.account,
  key_id: job.keyId,
  retryable: canRetry(job),
});

export async function listBody(jobs: JobTable, { jobs: page, cursor }: JobPage): Promise<AdminJobList> {
  const summaries = await summariesOf(jobs, page);
  const entries = summaries.map((summary, i) => ({ ...summary, ...ownPart(page[i] as ListedJob) }));
  return { jobs: entries, next_cursor: cursor ?? null };
}

/** Without voiceprints: they identify people, and no operator needs to see them. */
export async function jobReply(jobs: JobTable, job: Job): Promise<Reply> {
  const body = {
    ...(await endingOf(jobs, job)),
    ...ownPart(job),
    file: job.task === 'batch' ? null : fileOf(job),
    parameters: job.task === 'predict' ? parametersOf(job) : null,
  };
  const result = job.task === 'predict' ? job.result : undefined;
  return replyWithResult<AdminJob>(200, body, { ...job, result });
}

function fileOf(job: Job): AdminJob['file'] {
  const { object } = jobSource(job) as { object?: string };
  if (object === undefined) return null;
  const [, entity = '', ...key] = object.split('/');
  return { entity, key: key.join('/') };
}

function parametersOf(job: Job): AdminJob['parameters'] {
  const { model, threshold, silenceThresholdPercent, startS, endS, separatesChannels } = jobParameters(job);
  return {
    model,
    threshold,
    silence_threshold: silenceThresholdPercent,
    start: startS ?? null,
    end: endS ?? null,
    separate_channels: separatesChannels ?? false,
  };
}

export function deliveryBody(delivery: LoggedDelivery): AdminDelivery {
  const { jobId, account, url, createdAtMs, finishedAtMs, allAttempts } = delivery;
  return {
    ...webhookLogOf(delivery),
    job_id: jobId,
    account,
    url: destinationOf(url),
    created_at: new Date(createdAtMs).toISOString(),
    finished_at: finishedAtMs === undefined ? null : new Date(finishedAtMs).toISOString(),
    attempt_count: allAttempts,
  };
}
