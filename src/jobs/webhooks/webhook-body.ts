// SPDX-License-Identifier: Apache-2.0
import type { Job } from '../queue/job.js';
import type { JobTable } from '../queue/job-table.js';
import { endingOf, smallResultOf } from '../routes/job-answers.js';

const MAX_BODY_BYTES = 128 * 1024;

/**
 * Tells a client of the end of a job, the same at each attempt. A large result is left out: the client fetches the job.
 */
export async function webhookBody(jobs: JobTable, job: Job): Promise<string> {
  const ending = await endingOf(jobs, job);
  const event = { type: `job.${job.state}`, timestamp: ending.finished_at };
  const result = smallResultOf(job);
  if (result !== 'large') {
    const whole = JSON.stringify({ ...event, data: { ...ending, result, result_omitted: false } });
    if (Buffer.byteLength(whole) <= MAX_BODY_BYTES) return whole;
  }
  return JSON.stringify({ ...event, data: { ...ending, result: null, result_omitted: true } });
}
