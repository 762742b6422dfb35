// SPDX-License-Identifier: Apache-2.0

export const jobStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type JobState = (typeof jobStates)[number];

export const jobTasks = ['predict', 'enroll', 'batch'] as const;

/** How a state looks, beside its word. */
export const moodOf: Readonly<Record<JobState, 'plain' | 'good' | 'bad' | 'busy'>> = {
  queued: 'plain',
  running: 'busy',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'plain',
};

export interface ShownProgress {
  readonly state: JobState;
  readonly file_progress: number;
  readonly queue_position: number | null;
  readonly attempts: number;
}

/** What of the work is done, in words. */
export function progressText({ state, file_progress, queue_position }: ShownProgress): string {
  if (state === 'queued') {
    return queue_position === null || queue_position === 0
      ? 'next in the queue'
      : `${queue_position} ahead in the queue`;
  }
  return state === 'succeeded' ? 'done' : `${Math.floor(100 * file_progress)} % of the file read`;
}

/** Whether two lists show the same jobs in the same states: then nobody has to be told. */
export const statesOf = (jobs: readonly { readonly id: string; readonly state: string }[]): string =>
  jobs.map(({ id, state }) => `${id} ${state}`).join('\n');
