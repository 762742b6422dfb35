// SPDX-License-Identifier: Apache-2.0
import type { Analysis } from '../../analysis/analyser/analyser.js';
import {
  CursorRefused,
  type RecordingAnalyser,
  type RecordingCursor,
  type RecordingEnd,
  type RecordingResults,
} from '../../analysis/analyser/recording.js';
import { predictionBody } from '../../analysis/verdict/prediction.js';
import { audioPartOf } from '../../base/addon/addon.js';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { MIN_DURATION_S } from '../../base/contract/limits.js';
import type { Prediction } from '../../base/contract/prediction.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { type Work, WorkLost } from '../../state/jobs/job.js';
import type { JobDesk } from '../../state/jobs/job-desk.js';
import { type JobSource, jobParameters, jobSource } from '../../state/jobs/job-text.js';

export interface JobRunnerParts {
  readonly desk: JobDesk;
  readonly analyser: RecordingAnalyser;
  /** Rejects with ServiceError. */
  readonly openSource: (source: JobSource, signal: AbortSignal) => Promise<ByteSource>;
  /** Stores the result under this name; called before the job counts as done, and again by another try. */
  readonly store: (name: string, result: object) => Promise<void>;
  readonly maxBytes: number;
  readonly maxDurationS: number;
  readonly timeLimitMs: number;
  /** Between two signs of life. */
  readonly heartbeatMs: number;
}

/** How a job ended in a worker's hands. */
export type JobEnd =
  | { readonly outcome: 'succeeded'; readonly done: DoneWork }
  | { readonly outcome: 'failed'; readonly failure: ServiceError };

/** What came of a worker's turn with a job. */
export type JobTurn =
  | JobEnd
  /** It will be tried again. */
  | { readonly outcome: 'retried'; readonly failure: ServiceError }
  /** `lost`: it was cancelled, or other workers have it. */
  | { readonly outcome: 'given back' | 'lost' };

/** The whole job, whatever the number of workers that had it. */
export interface DoneWork {
  readonly bytes: number;
  readonly audioS: number;
  readonly scoredWindows: number;
  readonly skippedS: number;
  readonly modelId: string;
}

/**
 * Does one job from its last saved step to its end. Never rejects for what is the job's own fault.
 * @param stopping aborted if others are to go on with the job
 * @throws DatabaseError
 */
export async function runJob(work: Work, parts: JobRunnerParts, stopping: AbortSignal): Promise<JobTurn> {
  const { desk } = parts;
  const heart = new Heart(work, parts);
  const signal = AbortSignal.any([stopping, heart.signal]);
  try {
    const startedMs = performance.now();
    const { results, end, bytes } = await analyse(work, parts, heart, signal);
    const analysis = analysisOf(results, end);
    const body = bodyOf(work, analysis, (performance.now() - startedMs) / 1000);
    const { durationS: audioS, modelId, windows, skipped } = analysis;
    const source = jobSource(work.job.source);
    if ('object' in source && source.resultObject !== undefined) await parts.store(source.resultObject, body);
    await desk.succeed(work, { result: JSON.stringify(body), audioS, windows: windows.length, bytes });
    const skippedS = skipped.reduce((sum, { startS, endS }) => sum + endS - startS, 0);
    return {
      outcome: 'succeeded',
      done: { bytes, audioS, scoredWindows: windows.length, skippedS, modelId },
    };
  } catch (error) {
    return await endOf(work, desk, heart.failure ?? error, stopping);
  } finally {
    heart.stop();
  }
}

async function analyse(work: Work, parts: JobRunnerParts, heart: Heart, signal: AbortSignal) {
  const source = await parts.openSource(jobSource(work.job.source), signal);
  try {
    const { bytes } = source;
    if (bytes > parts.maxBytes) throw new ServiceError('FILE_TOO_LARGE', { allowedBytes: parts.maxBytes });
    const analyseFromCursor = async (from: Work) => ({
      ...(await analyseFrom(from, source, parts, heart, signal)),
      bytes,
    });
    try {
      return await analyseFromCursor(work);
    } catch (error) {
      if (!(error instanceof CursorRefused)) throw error;
      // Another model since a reload, or another recording under the same name.
      await parts.desk.startAgain(work);
      return await analyseFromCursor({ ...work, cursor: undefined, savedSteps: 0 });
    }
  } finally {
    await source.close();
  }
}

async function analyseFrom(
  { job, ...work }: Work,
  source: ByteSource,
  { desk, analyser, maxDurationS, timeLimitMs }: JobRunnerParts,
  heart: Heart,
  signal: AbortSignal,
): Promise<{ results: RecordingResults[]; end: RecordingEnd }> {
  const parameters = jobParameters(job.parameters);
  let step = work.savedSteps;
  const steps = analyser.analyseRecording({
    source,
    model: parameters.model,
    silenceThresholdPercent: parameters.silenceThresholdPercent,
    ...audioPartOf(parameters),
    minDurationS: MIN_DURATION_S,
    maxDurationS,
    timeLimitMs,
    cursor: work.cursor === undefined ? undefined : (JSON.parse(work.cursor) as RecordingCursor),
    owner: job.account,
    signal,
    onProgress: ({ fileProgress }) => heart.tell(fileProgress),
  });
  for await (const part of steps) {
    const { windows, skipped } = part;
    if (part.isLast) {
      const results: RecordingResults[] = [];
      for await (const saved of desk.savedResults(job.id))
        results.push(JSON.parse(saved) as RecordingResults);
      return { results: [...results, { windows, skipped }], end: part };
    }
    await desk.saveStep({ job, ...work }, step, {
      results: JSON.stringify({ windows, skipped }),
      cursor: JSON.stringify(part.cursor),
      audioS: part.cursor.audioS,
    });
    step++;
  }
  throw new Error(`The analysis of the job ${job.id} ended without a last step. This is a bug.`);
}

const analysisOf = (results: readonly RecordingResults[], { summary, modelId }: RecordingEnd): Analysis => ({
  ...summary,
  modelId,
  damagedAtS: [],
  windows: results.flatMap(({ windows }) => windows),
  skipped: results.flatMap(({ skipped }) => skipped),
  timesMs: { queue: 0, decode: 0, features: 0, inference: 0 },
});

/** @throws ServiceError NO_SPEECH */
function bodyOf({ job }: Work, analysis: Analysis, processingS: number): Prediction {
  const parameters = jobParameters(job.parameters);
  // Another try gives the same.
  const { predictionId = `pred_${job.id.replaceAll('-', '').slice(0, 12)}` } = parameters;
  return predictionBody(analysis, { ...parameters, predictionId }, processingS);
}

async function endOf(work: Work, desk: JobDesk, error: unknown, stopping: AbortSignal): Promise<JobTurn> {
  try {
    if (error instanceof WorkLost) return { outcome: 'lost' };
    if (stopping.aborted) {
      await desk.giveBack(work);
      return { outcome: 'given back' };
    }
    const failure =
      error instanceof ServiceError ? error : new ServiceError('INTERNAL', {}, { cause: error });
    const isRetried = await desk.fail(
      work,
      { code: failure.key, message: failure.message },
      // What the client did wrong stays wrong.
      failure.status >= 500 || failure.status === 408 || failure.status === 429,
    );
    return { outcome: isRetried ? 'retried' : 'failed', failure };
  } catch (lost) {
    if (lost instanceof WorkLost) return { outcome: 'lost' };
    throw lost;
  }
}

/** Tells the desk that the worker lives; stops the work if the job is no longer its own. */
class Heart {
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #fileProgress: number;
  #failure: unknown;

  constructor(work: Work, { desk, heartbeatMs }: JobRunnerParts) {
    this.#fileProgress = work.job.fileProgress;
    let isBeating = false;
    this.#timer = setInterval(() => {
      if (isBeating) return;
      isBeating = true;
      desk
        .renew(work, this.#fileProgress)
        .catch((error) => {
          // A database that is gone for a while takes the lease away, and with it the job, if it takes too long.
          if (!(error instanceof WorkLost)) return;
          this.#failure = error;
          this.#stop.abort(error);
        })
        .finally(() => {
          isBeating = false;
        });
    }, heartbeatMs);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get failure(): unknown {
    return this.#failure;
  }

  tell(fileProgress: number): void {
    this.#fileProgress = fileProgress;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
