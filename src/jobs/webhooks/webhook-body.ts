// SPDX-License-Identifier: Apache-2.0
import type { Job } from '../queue/job.js';
import type { JobTable } from '../queue/job-table.js';
import { endingOf } from '../routes/job-answers.js';

/** Results of about an hour of audio fit. */
const MAX_BODY_BYTES = 128 * 1024;

/**
 * Tells a client of the end of a job, the same at each attempt. A large result is left out: the client fetches the job.
 */
export async function webhookBody(jobs: JobTable, job: Job): Promise<string> {
  // Megabytes are not read only to be left out, which would hold up everybody else at each attempt.
  const isLarge = (job.result?.length ?? 0) > MAX_BODY_BYTES;
  const data = await endingOf(jobs, isLarge ? { ...job, result: undefined } : job);
  const event = { type: `job.${job.state}`, timestamp: data.finished_at };
  if (!isLarge) {
    const whole = JSON.stringify({ ...event, data: { ...data, result_omitted: false } });
    if (Buffer.byteLength(whole) <= MAX_BODY_BYTES) return whole;
  }
  return JSON.stringify({ ...event, data: { ...data, result: null, result_omitted: true } });
}
