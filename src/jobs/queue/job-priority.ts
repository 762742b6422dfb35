// SPDX-License-Identifier: Apache-2.0
//
// Which job goes first. A priority is a time: that of the job, put off for what its account has waiting already. So a job lets
// newer ones pass for a limited time only, whatever else comes.

/** The index `jobs_queued` has exactly these rows, in this order. A batch is no work for a worker: its lines are. */
export const isQueued = "state = 'queued' AND task <> 'batch'";
export const queueOrder = 'ORDER BY priority DESC, created_at_ms';

/** Jobs of other accounts pass one this much older, for each job that its account has waiting. */
const DELAY_PER_JOB_S = 600;
const MAX_DELAY_S = 86_400;
/** Lines of batches are put off by this in addition, which no single job is. */
const BATCH_DELAY_S = MAX_DELAY_S;
/** Priorities are small integers: seconds before this moment. */
const EPOCH_S = Date.parse('2026-01-01') / 1000;

/** @param nowS of the clock @param unfinished jobs of the account before it */
export const jobPriority = (nowS: number, unfinished: number): number =>
  Math.floor(EPOCH_S - nowS) - Math.min(MAX_DELAY_S, DELAY_PER_JOB_S * unfinished);

/** @param unfinished lines of batches of the account before it */
export const linePriority = (nowS: number, unfinished: number): number =>
  jobPriority(nowS, unfinished) - BATCH_DELAY_S;

/** No job has a lower one, unless it was made before the clock was set back: it would wait until the clock has caught up. */
export const lowestPriority = (nowS: number): number => linePriority(nowS, Number.POSITIVE_INFINITY);
