// SPDX-License-Identifier: Apache-2.0
import { CursorRefused } from '../../analysis/analyser/recording.js';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { orAborted } from '../../base/outgoing/call-clock.js';
import { refusalOf } from '../../state/database/write-problem.js';
import { type Work, WorkLost } from '../queue/job.js';
import { enrollParameters, type JobSource, jobSource } from '../queue/job-text.js';
import type { JobWorkTable } from '../queue/job-work-table.js';
import { isWorthRetrying } from '../turns/is-worth-retrying.js';
import { LeaseRenewal, type OnLate } from '../turns/lease-renewal.js';
import { pacedFile } from '../turns/paced-file.js';
import { type TurnLimits, TurnOver, type TurnSlice } from '../turns/turn-slice.js';
import type { DoneWork } from './done-work.js';
import type { Enrolled, EnrollTask } from './enroll-recording.js';
import { type PredictParts, type PredictTask, predictRecording } from './predict-recording.js';

export interface JobRunnerParts extends PredictParts {
  /** Rejects with ServiceError. */
  readonly openSource: (source: JobSource, signal: AbortSignal) => Promise<ByteSource>;
  /** Rejects with ServiceError. */
  readonly enroll: (task: EnrollTask) => Promise<Enrolled>;
  /** Stores the result under this name; called before the job counts as done, and again by another try. */
  readonly store: (name: string, result: object) => Promise<void>;
  /** Of a recording to analyse. */
  readonly maxBytes: number;
  /** Between two signs of life. */
  readonly heartbeatMs: number;
  readonly onLate?: OnLate;
}

/** The outcome of a worker's turn with a job. */
export type JobEnd =
  | { readonly outcome: 'succeeded'; readonly done: DoneWork }
  | { readonly outcome: 'failed'; readonly failure: ServiceError };

/** The end of a worker's turn with a job. */
export type JobTurn =
  | JobEnd
  /** It will be tried again. */
  | { readonly outcome: 'retried'; readonly failure: ServiceError }
  /** `lost`: it was cancelled, or other workers have it. */
  | { readonly outcome: 'given back' | 'lost' };

type TurnTask = Omit<PredictTask, 'source'>;

interface Result {
  readonly body: object;
  readonly done: DoneWork;
}

/**
 * Does one job from its last saved step to its end, or to a later step if other accounts wait. Never rejects for what is the job's
 * own fault.
 * @throws DatabaseError
 */
export async function runJob(work: Work, parts: JobRunnerParts, limits: TurnLimits): Promise<JobTurn> {
  const { workTable, heartbeatMs, onLate } = parts;
  const { stopping, slice } = limits;
  let { fileProgress } = work.job;
  const renewal = new LeaseRenewal(() => workTable.renew(work, fileProgress), heartbeatMs, onLate);
  const task: TurnTask = {
    signal: AbortSignal.any([stopping, renewal.signal]),
    onProgress: (share) => {
      fileProgress = share;
    },
    onSaved: () => slice.checkpoint(),
  };
  let identity: string | undefined;
  const openSource: JobRunnerParts['openSource'] = async (from, signal) => {
    const source = await parts.openSource(from, signal);
    identity = source.identity;
    return source;
  };
  /** Whether a newer recording of this name has a job of its own, which may have stored its result before. */
  const isReplaced = async (): Promise<boolean> => {
    const from = identity === undefined ? undefined : jobSource(work.job);
    if (from === undefined || !('object' in from) || from.resultObject === undefined) return false;
    const now = await identityNow(from, parts, task.signal);
    return now !== undefined && now !== identity;
  };
  try {
    const { body, done } = await resultOf(work, { ...parts, openSource }, task, slice);
    const source = jobSource(work.job);
    if ('object' in source && source.resultObject !== undefined && !(await isReplaced())) {
      // The next sign of life may come too late to tell of a cancellation.
      await workTable.renew(work, fileProgress);
      await orAborted(task.signal, parts.store(source.resultObject, body));
    }
    const { audioS, scoredWindows: windows, bytes } = done;
    await workTable.succeed(work, { result: JSON.stringify(body), audioS, windows, bytes });
    return { outcome: 'succeeded', done };
  } catch (error) {
    return await endOf(work, workTable, renewal.failure ?? error, stopping);
  } finally {
    renewal.stop();
  }
}

/** @throws ServiceError, WorkLost, TurnOver, or the signal's reason */
async function resultOf(
  work: Work,
  parts: JobRunnerParts,
  turn: TurnTask,
  slice: TurnSlice,
): Promise<Result> {
  const from = jobSource(work.job);
  const source = pacedFile(await parts.openSource(from, turn.signal), from, slice);
  try {
    return await resultFrom(work, parts, { ...turn, source });
  } finally {
    await source.close();
  }
}

async function resultFrom(work: Work, parts: JobRunnerParts, task: PredictTask): Promise<Result> {
  if (work.job.task === 'enroll') {
    return parts.enroll({ ...task, ...enrollParameters(work.job), owner: work.job.account });
  }
  if (task.source.bytes > parts.maxBytes)
    throw new ServiceError('FILE_TOO_LARGE', { allowedBytes: parts.maxBytes });
  try {
    return await predictRecording(work, parts, task);
  } catch (error) {
    if (!(error instanceof CursorRefused)) throw error;
    // Another model since a reload, or another recording under the same name.
    await parts.workTable.startAgain(work);
    return await predictRecording({ ...work, cursor: undefined, savedSteps: 0 }, parts, task);
  }
}

/** Undefined if there is no recording of this name by now. @throws ServiceError, or the signal's reason */
async function identityNow(
  from: JobSource,
  { openSource }: JobRunnerParts,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const source = await openSource(from, signal);
    await source.close();
    return source.identity;
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'OBJECT_NOT_FOUND') return undefined;
    throw error;
  }
}

async function endOf(
  work: Work,
  workTable: JobWorkTable,
  error: unknown,
  stopping: AbortSignal,
): Promise<JobTurn> {
  try {
    if (error instanceof WorkLost) return { outcome: 'lost' };
    if (stopping.aborted || error instanceof TurnOver) {
      await workTable.giveBack(work);
      return { outcome: 'given back' };
    }
    const failure = refusalOf(error);
    const isRetried = await workTable.fail(
      work,
      { code: failure.key, message: failure.message },
      isWorthRetrying(error, failure),
    );
    return { outcome: isRetried ? 'retried' : 'failed', failure };
  } catch (lost) {
    if (lost instanceof WorkLost) return { outcome: 'lost' };
    throw lost;
  }
}
