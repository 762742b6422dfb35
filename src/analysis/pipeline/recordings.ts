// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { audioPartOf, codedSoundOf } from '../../base/addon/addon.js';
import { ServiceError } from '../../base/errors/service-error.js';
import {
  CursorRefused,
  type RecordingCursor,
  type RecordingRequest,
  type RecordingStep,
} from '../analyser/recording.js';
import type { InputSlots } from '../memory/input-slots.js';
import { BackgroundPool } from '../prepare/background-pool.js';
import type {
  PrepareResult,
  PrepareWorkerData,
  RecordingTask,
  SlottedInput,
} from '../prepare/prepare-task.js';
import { RangeFeeder } from '../prepare/range-feeder.js';
import { RangeMailbox } from '../prepare/range-mailbox.js';
import { RunControl } from '../prepare/run-control.js';
import type { JobOwner, Scheduler } from '../scoring/scheduler.js';
import type { AnsweringDetector } from './answering-detector.js';
import { RecordingRun } from './recording-run.js';
import { toServiceError } from './stage-failure.js';

/** Block size for reading a recording; four blocks are in memory in addition to the native code's share. */
const BLOCK_BYTES = 1 << 20;
const STEP_S = 60;

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

/** One recording on its way through the threads; a JobOwner of the scheduler. */
interface Flight {
  readonly id: number;
  readonly group: string;
  readonly isBackground: true;
  readonly model: number;
  readonly run: RecordingRun;
  readonly feeder: RangeFeeder;
  readonly request: RecordingRequest;
  control: number | undefined;
  /** Runs from the moment a thread begins with it. */
  timer: NodeJS.Timeout | undefined;
  announced: number;
  /** Called when more inputs were announced. */
  onAnnounced: () => void;
}

export interface RecordingSettings {
  /** Recordings at once; others wait. */
  readonly runs: number;
  /** Inputs of one recording that may wait for scoring at once: enough for every scoring thread to have work. */
  readonly maxPendingInputs: number;
  readonly onThreadError: (error: unknown) => void;
}

export type RecordingWorkerData = Omit<PrepareWorkerData, 'control' | 'maxPendingInputs' | 'isBackground'>;

/** Analyses recordings in the background, next to the requests that the pipeline works on. */
export class Recordings {
  readonly #slots: InputSlots;
  readonly #scheduler: Scheduler<JobOwner>;
  readonly #control: RunControl;
  readonly #pool: BackgroundPool;
  readonly #flights = new Map<number, Flight>();
  #lastId = 0;

  constructor(
    slots: InputSlots,
    scheduler: Scheduler<JobOwner>,
    workerData: RecordingWorkerData,
    { runs, maxPendingInputs, onThreadError }: RecordingSettings,
  ) {
    this.#slots = slots;
    this.#scheduler = scheduler;
    this.#control = RunControl.create(runs);
    const control = this.#control.shared;
    this.#pool = new BackgroundPool(
      runs,
      { ...workerData, control, maxPendingInputs, isBackground: true },
      {
        onInputs: ({ id, inputs }) => {
          const flight = this.#flights.get(id);
          if (flight) this.#accept(flight, inputs);
          // Its thread died after it sent them.
          else for (const { slot } of inputs) this.#slots.release(slot);
        },
        onRangeWanted: ({ id, offset, length, decodedS }) => {
          const flight = this.#flights.get(id);
          if (flight === undefined) return;
          const { onProgress, source } = flight.request;
          onProgress?.({ decodedS, fileProgress: source.bytes > 0 ? offset / source.bytes : 0 });
          void flight.feeder.answer(offset, length);
        },
        onThreadError,
      },
    );
  }

  async *analyse(
    request: RecordingRequest,
    model: RecordingModel,
  ): AsyncGenerator<RecordingStep, void, void> {
    request.signal.throwIfAborted();
    checkCursor(request, model);
    const mailbox = RangeMailbox.create(BLOCK_BYTES);
    const flight: Flight = {
      id: ++this.#lastId,
      group: request.owner ?? '',
      isBackground: true,
      model: model.index,
      run: new RecordingRun(model, cursorMaker(request, model)),
      feeder: new RangeFeeder(request.source, mailbox),
      request,
      control: undefined,
      timer: undefined,
      announced: 0,
      onAnnounced() {},
    };
    const stop = new AbortController();
    const stopped = (): void => this.#stop(flight, stop.signal.reason);
    const abandon = (): void => stop.abort(request.signal.reason);
    stop.signal.addEventListener('abort', stopped, { once: true });
    request.signal.addEventListener('abort', abandon, { once: true });
    this.#flights.set(flight.id, flight);
    const working = this.#work(flight, mailbox, stop).catch((error) => stop.abort(error));
    try {
      for (let step = await flight.run.next(); step !== undefined; step = await flight.run.next()) yield step;
    } finally {
      clearTimeout(flight.timer);
      request.signal.removeEventListener('abort', abandon);
      stop.abort(new Error('The recording is over.'));
      await working;
      flight.feeder.stop(stop.signal.reason);
      this.#flights.delete(flight.id);
    }
  }

  /** Fails running recordings. */
  async close(): Promise<void> {
    for (const flight of this.#flights.values()) this.#stop(flight, new ServiceError('STOPPING'));
    await this.#pool.close();
  }

  // jscpd:ignore-start: as in the pipeline, on another kind of flight.
  #giveBack(flight: Flight, slot: number): void {
    this.#slots.release(slot);
    if (flight.control !== undefined) this.#control.removePending(flight.control);
  }
  // jscpd:ignore-end

  async #work(flight: Flight, mailbox: RangeMailbox, stop: AbortController): Promise<void> {
    const { request, run } = flight;
    const { timeLimitMs } = request;
    const makeTask = (control: number): RecordingTask => {
      this.#control.reset(control);
      flight.control = control;
      // Here, where aborts also arrive: then one thread alone decides which of them came first.
      flight.timer = setTimeout(
        () => stop.abort(new ServiceError('ANALYSIS_TIMEOUT', { timeoutMs: timeLimitMs })),
        timeLimitMs,
      );
      return {
        id: flight.id,
        control,
        model: flight.model,
        mailbox: mailbox.shared,
        bytes: request.source.bytes,
        digest: createHash('sha256').update(request.source.identity).digest(),
        options: {
          minDurationS: request.minDurationS,
          maxDurationS: request.maxDurationS,
          silenceThresholdPercent: request.silenceThresholdPercent,
          timeLimitMs,
          checkpointIntervalS: request.stepS ?? STEP_S,
          ...audioPartOf(request),
        },
        ...(request.cursor?.checkpoint !== undefined && {
          checkpoint: Buffer.from(request.cursor.checkpoint, 'base64'),
        }),
      };
    };
    const result = await this.#pool.run(makeTask, stop.signal).finally(() => {
      flight.control = undefined;
    });
    // Announcements may come later than the result, but their order is that of the audio.
    const earlier = result.inputCount - result.inputs.length;
    while (flight.announced < earlier) {
      await new Promise<void>((resolve) => {
        flight.onAnnounced = resolve;
      });
    }
    this.#accept(flight, result.inputs);
    if (result.ok) run.prepared(result.summary);
    else run.fail(this.#failureOf(flight, result));
  }

  #failureOf({ feeder, request }: Flight, result: Extract<PrepareResult, { ok: false }>): unknown {
    if (result.code === 'SOURCE_FAILED') return feeder.failure ?? new Error(result.message);
    return toServiceError(result, request, request.timeLimitMs);
  }

  #accept(flight: Flight, inputs: readonly SlottedInput[]): void {
    const { run } = flight;
    for (const input of inputs) {
      flight.announced++;
      const { slot } = input;
      if (run.settled) {
        this.#giveBack(flight, slot);
        continue;
      }
      run.announced(input);
      this.#scheduler.push(flight, {
        model: flight.model,
        slot,
        sound: codedSoundOf(input),
        enqueuedMs: performance.now(),
        started() {},
        scored: ([score = Number.NaN]) => {
          this.#giveBack(flight, slot);
          run.scored(input, score);
        },
        failed: (cause) => {
          this.#giveBack(flight, slot);
          run.fail(new ServiceError('INTERNAL', {}, { cause }));
        },
      });
    }
    flight.onAnnounced();
  }

  #stop(flight: Flight, reason: unknown): void {
    flight.run.fail(reason);
    if (flight.control !== undefined) this.#control.stop(flight.control);
    flight.feeder.stop(reason);
    for (const { slot } of this.#scheduler.remove(flight)) this.#giveBack(flight, slot);
  }
}

function cursorMaker(request: RecordingRequest, { scoreFingerprint }: RecordingModel) {
  const { source, silenceThresholdPercent, startS = 0 } = request;
  return (endS: number, checkpoint: Uint8Array): RecordingCursor => ({
    version: 2,
    source: source.identity,
    scoreFingerprint,
    silenceThresholdPercent,
    ...audioPartOf(request),
    audioS: endS - startS,
    checkpoint: Buffer.from(checkpoint).toString('base64'),
  });
}

function checkCursor(request: RecordingRequest, { scoreFingerprint }: RecordingModel): void {
  const { cursor, source, silenceThresholdPercent } = request;
  if (cursor === undefined) return;
  const problems = {
    version: cursor.version !== 2,
    recording: cursor.source !== source.identity,
    model: cursor.scoreFingerprint !== scoreFingerprint,
    'silence threshold': cursor.silenceThresholdPercent !== silenceThresholdPercent,
    region: cursor.startS !== request.startS || cursor.endS !== request.endS,
    channel: cursor.channel !== request.channel,
  };
  for (const [what, isOther] of Object.entries(problems))
    if (isOther) throw new CursorRefused(`The cursor belongs to another ${what}.`);
}
