// SPDX-License-Identifier: Apache-2.0
import { type JobState, jobStates, jobTasks } from './job-texts.js';

export type JobTask = (typeof jobTasks)[number];

/** The filter of the list of jobs; all of it is in its address. Empty texts are for all. */
export interface JobFilter {
  readonly state: JobState | '';
  readonly task: JobTask | '';
  readonly account: string;
  readonly key: string;
}

export const filterOf = (query: URLSearchParams): JobFilter => ({
  state: jobStates.find((state) => state === query.get('state')) ?? '',
  task: jobTasks.find((task) => task === query.get('task')) ?? '',
  account: query.get('account') ?? '',
  key: query.get('key') ?? '',
});
