// SPDX-License-Identifier: Apache-2.0
import { clock } from './clock.js';

export const jobStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type JobState = (typeof jobStates)[number];

export const jobTasks = ['predict', 'enroll', 'batch'] as const;

/** The look of a state, beside its word. */
export const moodOf: Readonly<Record<JobState, 'plain' | 'good' | 'bad' | 'busy'>> = {
  queued: 'plain',
  running: 'busy',
  // Green beside a call with a clone would mean that nothing was found.
  succeeded: 'plain',
  failed: 'bad',
  cancelled: 'plain',
};

export interface ShownProgress {
  readonly state: JobState;
  readonly file_progress: number;
  readonly queue_position: number | null;
  readonly attempts: number;
}

/** The finished part of the work, in words. */
export function progressText({ state, file_progress, queue_position }: ShownProgress): string {
  if (state === 'queued') {
    return queue_position === null || queue_position === 0
      ? 'next in the queue'
      : `${queue_position} ahead in the queue`;
  }
  return state === 'succeeded' ? 'done' : `${Math.floor(100 * file_progress)} % of the file read`;
}

/** Whether two lists show the same jobs in the same states: then there is nothing to announce. */
export const statesOf = (jobs: readonly { readonly id: string; readonly state: string }[]): string =>
  jobs.map(({ id, state }) => `${id} ${state}`).join('\n');

/**
 * The analysed share of the audio.
 * @param totalS undefined if the page cannot tell
 * @param hasChannels whether channels are analysed after their mix
 */
export function audioProgress(
  {
    audio_analysed: analysedS,
    file_progress,
  }: { readonly audio_analysed: number; readonly file_progress: number },
  totalS: number | undefined,
  hasChannels: boolean,
): { readonly detail: string; readonly share: number } {
  if (totalS === undefined) {
    return { detail: `${clock(analysedS, 0)} of audio analysed`, share: file_progress };
  }
  const isMixDone = hasChannels && analysedS >= totalS;
  const detail = isMixDone
    ? 'The mix is analysed, the channels follow'
    : `${clock(Math.min(analysedS, totalS), 0)} of ${clock(totalS, 0)} of audio analysed`;
  // Only the server knows how many channels there are.
  return { detail, share: hasChannels ? file_progress : Math.min(1, analysedS / totalS) };
}
