// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { type AudioWindow, audioPartOf } from '../../base/addon/addon.js';
import { ServiceError } from '../../base/errors/service-error.js';
import {
  type CloserLook,
  CursorRefused,
  type RecordingCursor,
  type RecordingRequest,
  type RecordingStep,
} from '../analyser/recording.js';
import { BackgroundPool } from '../prepare/background-pool.js';
import type {
  PrepareResult,
  PrepareWorkerData,
  RangeWanted,
  RecordingTask,
} from '../prepare/prepare-task.js';
import { RangeFeeder } from '../prepare/range-feeder.js';
import { RangeMailbox } from '../prepare/range-mailbox.js';
import { RunControl } from '../prepare/run-control.js';
import { isLater, SecondLook } from '../stretches/second-look.js';
import type { AnsweringDetector } from './answering-detector.js';
import { acceptInputs, Flight, type FlightPath } from './flight.js';
import { type CursorMaker, RecordingRun } from './recording-run.js';
import { missedLookOf, toServiceError } from './stage-failure.js';

/** Block size for reading a recording; four blocks are in memory in addition to the native code's share. */
const BLOCK_BYTES = 1 << 20;
const STEP_S = 60;
/** A step of the second look has as many windows as one of the first. */
const FIRST_LOOK_WINDOW_S = 5;

/** Memory for the prepared inputs of one recording, at most. */
const MAX_SLOT_BYTES = 16 << 20;

/** As many inputs of one recording as are wanted, as far as memory goes. */
export function pendingOfRecording(wanted: number, inputSize: number): number {
  const affordable = Math.floor(MAX_SLOT_BYTES / (inputSize * Float32Array.BYTES_PER_ELEMENT));
  return Math.max(2, Math.min(wanted, affordable));
}

/** The model of a recording. */
export interface RecordingModel extends AnsweringDetector {
  readonly index: number;
  readonly scoreFingerprint: string;
}

export interface RecordingSettings {
  /** Recordings at once; others wait. */
  readonly runs: number;
  /** Inputs of one recording that may wait for scoring at once: enough for every scoring thread to have work. */
  readonly maxPendingInputs: number;
  readonly onThreadError: (error: unknown) => void;
}

export type RecordingWorkerData = Omit<PrepareWorkerData, 'control' | 'maxPendingInputs' | 'isBackground'>;

/** Shared with requests, and the needs of their own threads. */
export interface RecordingParts extends Pick<FlightPath, 'slots' | 'scheduler'> {
  readonly workerData: RecordingWorkerData;
  readonly recordingSettings: RecordingSettings;
}

interface Pass {
  readonly cursorAfter: CursorMaker;
  readonly look?: SecondLook;
  readonly windows?: readonly AudioWindow[];
}

/** Analyses recordings in the background, next to the requests that the pipeline works on. */
export class Recordings {
  readonly #path: FlightPath;
  readonly #pool: BackgroundPool;
  readonly #onRangeWanted = new Map<number, (wanted: RangeWanted) => void>();

  constructor({ slots, scheduler, workerData, recordingSettings }: RecordingParts) {
    const { runs, maxPendingInputs, onThreadError } = recordingSettings;
    const control = RunControl.create(runs);
    this.#path = { slots, scheduler, control, flights: new Map() };
    this.#pool = new BackgroundPool(
      runs,
      { ...workerData, control: control.shared, maxPendingInputs, isBackground: true },
      {
        onInputs: (ready) => acceptInputs(this.#path, ready),
        onRangeWanted: (wanted) => this.#onRangeWanted.get(wanted.id)?.(wanted),
        onThreadError,
      },
    );
  }

  async *analyse(
    request: RecordingRequest,
    model: RecordingModel,
  ): AsyncGenerator<RecordingStep, void, void> {
    checkCursor(request, model);
    const { cursor, startS = 0 } = request;
    const look = new SecondLook(startS, cursor?.secondLook);
    const base = cursorBase(request, model);
    let closer = cursor?.closer;
    if (closer === undefined) {
      const cursorAfter: CursorMaker = ({ endS }, checkpoint) =>
        checkpoint && {
          ...base,
          audioS: endS - startS,
          checkpoint: Buffer.from(checkpoint).toString('base64'),
          secondLook: look.state,
        };
      for await (const step of this.#pass(request, model, { cursorAfter, look })) {
        if (step.isLast && look.windowsUntil(startS + step.summary.durationS).length > 0) {
          const { windows, skipped, summary } = step;
          closer = { summary };
          // Saved now, the verdict outlives a second look that fails.
          yield { isLast: false, windows, skipped, cursor: closerCursor(base, look, closer) };
        } else yield step;
      }
    }
    if (closer !== undefined) yield* this.#lookCloser(request, model, look, closer);
  }

  /** The second look from where it is; the recording is read anew for it. */
  async *#lookCloser(
    { cursor: _, onProgress: __, ...request }: RecordingRequest,
    model: RecordingModel,
    look: SecondLook,
    { summary, lastStartS = Number.NEGATIVE_INFINITY }: CloserLook,
  ): AsyncGenerator<RecordingStep, void, void> {
    const { startS = 0, stepS = STEP_S } = request;
    const windows = look.windowsUntil(startS + summary.durationS).filter((each) => isLater(each, lastStartS));
    const { id: modelId, scoreFingerprint } = model;
    const end = { isLast: true, windows: [], skipped: [], modelId, scoreFingerprint, summary } as const;
    if (windows.length === 0) {
      yield end;
      return;
    }
    const base = cursorBase(request, model);
    const windowsPerStep = Math.max(1, Math.round(stepS / FIRST_LOOK_WINDOW_S));
    let scored = 0;
    const cursorAfter: CursorMaker = (window) =>
      ++scored % windowsPerStep === 0
        ? closerCursor(base, look, { summary, lastStartS: window.startS })
        : undefined;
    try {
      for await (const step of this.#pass(request, model, { cursorAfter, windows })) {
        const closerWindows = step.windows;
        if (step.isLast) yield { ...end, closerWindows };
        else yield { isLast: false, windows: [], skipped: [], closerWindows, cursor: step.cursor };
      }
    } catch (error) {
      yield { ...end, summary: { ...summary, missedLook: missedLookOf(error) } };
    }
  }

  /**
   * Reads the recording once.
   * @param look told of all windows
   * @param windows in place of those of 5 s side by side
   */
  async *#pass(
    request: RecordingRequest,
    model: RecordingModel,
    { cursorAfter, look, windows }: Pass,
  ): AsyncGenerator<RecordingStep, void, void> {
    const { signal, source, onProgress, owner: group = '' } = request;
    signal.throwIfAborted();
    const run = new RecordingRun(model, cursorAfter, look);
    const owner = { group, isBackground: true };
    const flight = new Flight(this.#path, {
      owner,
      model: model.index,
      run,
      adjustScore: request.adjustScore,
      signal,
    });
    const mailbox = RangeMailbox.create(BLOCK_BYTES);
    const feeder = new RangeFeeder(source, mailbox);
    flight.signal.addEventListener('abort', () => feeder.stop(flight.signal.reason), { once: true });
    this.#onRangeWanted.set(flight.id, ({ offset, length, decodedS }) => {
      onProgress?.({ decodedS, fileProgress: source.bytes > 0 ? offset / source.bytes : 0 });
      void feeder.answer(offset, length);
    });
    const makeTask = (control: number): RecordingTask => {
      // Here, where an abort is heard of also: then one thread alone decides which of them came first.
      flight.stopAfter(request.timeLimitMs, 'ANALYSIS_TIMEOUT');
      return { ...taskOf(request, model, windows), id: flight.id, control, mailbox: mailbox.shared };
    };
    const work = async (): Promise<void> => {
      const result = await flight.prepare(this.#pool, makeTask);
      if (!result.ok) run.fail(failureOf(result, request, feeder));
      else if (result.summary !== undefined) run.prepared(result.summary);
    };
    const working = work().catch((error) => flight.stop(error));
    try {
      for (let step = await run.next(); step !== undefined; step = await run.next()) yield step;
    } finally {
      flight.stop(new Error('The recording is over.'));
      await working;
      flight.close();
      this.#onRangeWanted.delete(flight.id);
    }
  }

  /** Fails running recordings. */
  async close(): Promise<void> {
    for (const flight of this.#path.flights.values()) flight.stop(new ServiceError('STOPPING'));
    await this.#pool.close();
  }
}

function taskOf(
  request: RecordingRequest,
  model: RecordingModel,
  windows: readonly AudioWindow[] | undefined,
): Omit<RecordingTask, 'id' | 'control' | 'mailbox'> {
  const { source, cursor } = request;
  return {
    model: model.index,
    bytes: source.bytes,
    digest: createHash('sha256').update(source.identity).digest(),
    options: {
      minDurationS: request.minDurationS,
      maxDurationS: request.maxDurationS,
      silenceThresholdPercent: request.silenceThresholdPercent,
      timeLimitMs: request.timeLimitMs,
      checkpointIntervalS: windows === undefined ? (request.stepS ?? STEP_S) : 0,
      ...audioPartOf(request),
      ...(windows && { windows }),
    },
    ...(cursor?.checkpoint !== undefined && { checkpoint: Buffer.from(cursor.checkpoint, 'base64') }),
  };
}

function failureOf(
  result: Extract<PrepareResult, { ok: false }>,
  request: RecordingRequest,
  feeder: RangeFeeder,
): unknown {
  if (result.code === 'SOURCE_FAILED') return feeder.failure ?? new Error(result.message);
  return toServiceError(result, request, request.timeLimitMs);
}

/** Common parts of a request's cursors. */
const cursorBase = (request: RecordingRequest, { scoreFingerprint }: RecordingModel) => ({
  version: 3 as const,
  source: request.source.identity,
  scoreFingerprint,
  silenceThresholdPercent: request.silenceThresholdPercent,
  ...audioPartOf(request),
});

const closerCursor = (
  base: ReturnType<typeof cursorBase>,
  look: SecondLook,
  closer: CloserLook,
): RecordingCursor => ({ ...base, audioS: closer.summary.durationS, secondLook: look.state, closer });

function checkCursor(request: RecordingRequest, { scoreFingerprint }: RecordingModel): void {
  const { cursor, source, silenceThresholdPercent } = request;
  if (cursor === undefined) return;
  const problems = {
    version: cursor.version !== 3,
    recording: cursor.source !== source.identity,
    model: cursor.scoreFingerprint !== scoreFingerprint,
    'silence threshold': cursor.silenceThresholdPercent !== silenceThresholdPercent,
    region: cursor.startS !== request.startS || cursor.endS !== request.endS,
    channel: cursor.channel !== request.channel,
  };
  for (const [what, isOther] of Object.entries(problems))
    if (isOther) throw new CursorRefused(`The cursor belongs to another ${what}.`);
}
