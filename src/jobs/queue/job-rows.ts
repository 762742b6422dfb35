// SPDX-License-Identifier: Apache-2.0
import type { Row } from '../../state/database/database.js';
import type { Job, JobState, JobTask } from './job.js';

/** Without the result, which has megabytes if the recording is long: a page of a list would have gigabytes. */
export const listedColumns =
  'id, account, key_id, task, state, source, parameters, callback_url, created_at_ms, started_at_ms, finished_at_ms, attempts, ' +
  'audio_s, file_progress, failure_code, failure_message, home, traceparent, batch_id';

export const jobColumns = `${listedColumns}, result`;

interface JobRow extends Row {
  readonly id: string;
  readonly account: string;
  readonly key_id: string;
  readonly task: JobTask;
  readonly state: JobState;
  readonly source: string;
  readonly parameters: string;
  readonly callback_url: string | null;
  readonly created_at_ms: number;
  readonly started_at_ms: number | null;
  readonly finished_at_ms: number | null;
  readonly attempts: number;
  readonly audio_s: number;
  readonly file_progress: number;
  readonly result?: string | null;
  readonly failure_code: string | null;
  readonly failure_message: string | null;
  readonly home: string | null;
  readonly traceparent: string | null;
  readonly batch_id: string | null;
}

export function jobOf(row: Row): Job {
  const found = row as JobRow;
  const { failure_code: code, failure_message: message } = found;
  return {
    id: found.id,
    account: found.account,
    keyId: found.key_id,
    task: found.task,
    state: found.state,
    source: found.source,
    parameters: found.parameters,
    home: found.home ?? undefined,
    callbackUrl: found.callback_url ?? undefined,
    createdAtMs: found.created_at_ms,
    startedAtMs: found.started_at_ms ?? undefined,
    finishedAtMs: found.finished_at_ms ?? undefined,
    attempts: found.attempts,
    audioS: found.audio_s,
    fileProgress: found.file_progress,
    result: found.result ?? undefined,
    traceparent: found.traceparent ?? undefined,
    batchId: found.batch_id ?? undefined,
    failure: code === null ? undefined : { code, message: message ?? '' },
  };
}
