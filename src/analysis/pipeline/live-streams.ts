// SPDX-License-Identifier: Apache-2.0
import { codedSoundOf, loadAddon, type PrepareSummary } from '../../base/addon/addon.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { LiveAudio, LiveRequest } from '../analyser/live.js';
import type { InputSlots } from '../memory/input-slots.js';
import type { PreparePool } from '../prepare/prepare-pool.js';
import type { LiveTask, PrepareResult, SlottedInput } from '../prepare/prepare-task.js';
import type { RunControl } from '../prepare/run-control.js';
import type { StartedWork } from '../prepare/started-work.js';
import type { JobOwner, Scheduler } from '../scoring/scheduler.js';
import type { Turns } from '../threads/turns.js';
import { type AnsweringDetector, uncertaintyOf } from './answering-detector.js';
import { LiveItems } from './live-items.js';
import { toServiceError } from './stage-failure.js';

/** Audio is decoded in pieces of this length, so that little is left to do when a window is whole. */
const STEP_S = 1;
/** More at once would keep a thread from others. */
const MAX_TASK_S = 5;
/** Overhead per piece. */
const PIECE_BYTES = 512;
/** Of one stream, in front of the scoring threads. */
const MAX_UNSCORED_WINDOWS = 2;

export interface LiveParts {
  readonly slots: InputSlots;
  readonly scheduler: Scheduler<JobOwner>;
  readonly control: RunControl;
  readonly prepare: PreparePool;
  readonly started: StartedWork;
  readonly turns: Turns;
  readonly taskTimeoutMs: number;
}

export interface LiveModel extends AnsweringDetector {
  readonly index: number;
}

interface Piece {
  readonly bytes: Uint8Array;
  readonly durationS: number;
}

/** The native code knows the streams of all pipelines by their numbers. */
let lastStream = 0;

/** Analyses live audio on the threads of requests: each piece is a small task, and owners take turns. */
export class LiveStreams {
  readonly #parts: LiveParts;
  readonly #open = new Set<LiveFlight>();

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  open(request: LiveRequest, model: LiveModel): LiveAudio {
    const flight = new LiveFlight(this.#parts, request, model, () => this.#open.delete(flight));
    this.#open.add(flight);
    return flight;
  }

  /** Fails the open streams. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((flight) => flight.fail(new ServiceError('STOPPING'))));
  }
}

/** One stream on its way through the threads. */
class LiveFlight implements LiveAudio, JobOwner {
  readonly group: string;
  readonly modelId: string;
  readonly #parts: LiveParts;
  readonly #request: LiveRequest;
  readonly #model: LiveModel;
  readonly #onClosed: () => void;
  readonly #stream = ++lastStream;
  readonly #stop = new AbortController();
  readonly #items = new LiveItems();
  #pieces: Piece[] = [];
  #pendingS = 0;
  #runningS = 0;
  #pendingBytes = 0;
  #runningBytes = 0;
  #wantedS = STEP_S;
  #hasMore = false;
  #isFinishing = false;
  /** The end was given to the native code. */
  #isFinished = false;
  #summary: PrepareSummary | undefined;
  #control: number | undefined;
  #leaveQueue = (): void => {};
  #running: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: LiveParts, request: LiveRequest, model: LiveModel, onClosed: () => void) {
    this.group = request.owner;
    this.modelId = model.id;
    this.#parts = parts;
    this.#request = request;
    this.#model = model;
    this.#onClosed = onClosed;
  }

  get waitingS(): number {
    return this.#pendingS + this.#runningS;
  }

  get waitingBytes(): number {
    return this.#pendingBytes + this.#runningBytes;
  }

  push(bytes: Uint8Array, durationS: number): void {
    if (this.#isFinishing || this.#stop.signal.aborted) return;
    this.#pieces.push({ bytes, durationS });
    this.#pendingS += durationS;
    this.#pendingBytes += bytes.length + PIECE_BYTES;
    this.#work();
  }

  finish(): void {
    this.#isFinishing = true;
    this.#work();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Tells of the failure, and closes. */
  fail(reason: unknown): Promise<void> {
    if (!this.#stop.signal.aborted) this.#request.onEvent({ kind: 'failed', reason });
    return this.close();
  }

  async #close(): Promise<void> {
    const { control, scheduler } = this.#parts;
    this.#stop.abort(new Error('The stream is over.'));
    this.#pieces = [];
    this.#leaveQueue();
    if (this.#control !== undefined) control.stop(this.#control);
    for (const job of scheduler.remove(this)) job.failed(this.#stop.signal.reason);
    await this.#running;
    loadAddon().closeLiveStream(this.#stream);
    this.#onClosed();
  }

  #work(): void {
    if (this.#running !== undefined || this.#isFinished || this.#stop.signal.aborted) return;
    if (this.#items.unscored >= MAX_UNSCORED_WINDOWS) return;
    const hasNews = this.#pendingS >= Math.min(this.#wantedS, STEP_S);
    if (!hasNews && !this.#hasMore && !this.#isFinishing) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      this.#work();
    });
  }

  async #run(): Promise<void> {
    const { prepare, turns, taskTimeoutMs } = this.#parts;
    turns.note(this.group);
    const started = { inputs: 1 };
    let hasBegun = false;
    // One of its own: the pool keeps a listener on it for as long as it lives.
    const leave = new AbortController();
    this.#leaveQueue = () => leave.abort(this.#stop.signal.reason);
    try {
      const result = await prepare.run(
        (control) => {
          hasBegun = true;
          this.#parts.started.begin(this.group);
          return this.#makeTask(control);
        },
        leave.signal,
        { owner: this.group },
      );
      this.#control = undefined;
      this.#runningS = 0;
      this.#runningBytes = 0;
      this.#take(result, started, taskTimeoutMs);
    } catch (error) {
      void this.fail(
        error instanceof ServiceError ? error : new ServiceError('INTERNAL', {}, { cause: error }),
      );
    } finally {
      this.#control = undefined;
      if (hasBegun) this.#inputOver(started);
    }
  }

  #makeTask(control: number): LiveTask {
    const { minDurationS, maxDurationS, silenceThresholdPercent, format } = this.#request;
    this.#parts.control.reset(control);
    this.#control = control;
    const pieces: Uint8Array[] = [];
    let durationS = 0;
    let taskBytes = 0;
    while (this.#pieces.length > 0 && durationS < MAX_TASK_S) {
      const piece = this.#pieces.shift() as Piece;
      pieces.push(piece.bytes);
      durationS += piece.durationS;
      taskBytes += piece.bytes.length + PIECE_BYTES;
    }
    this.#pendingS = this.#pieces.length === 0 ? 0 : this.#pendingS - durationS;
    this.#runningS = durationS;
    this.#pendingBytes -= taskBytes;
    this.#runningBytes = taskBytes;
    this.#isFinished = this.#isFinishing && this.#pieces.length === 0;
    const timeLimitMs = this.#parts.taskTimeoutMs;
    return {
      id: 0,
      control,
      model: this.#model.index,
      stream: this.#stream,
      format,
      options: { minDurationS, maxDurationS, silenceThresholdPercent, timeLimitMs },
      pieces,
      isLast: this.#isFinished,
    };
  }

  #take(result: PrepareResult, started: { inputs: number }, timeoutMs: number): void {
    for (const input of result.inputs) this.#score(input, started);
    if (this.#stop.signal.aborted) return;
    if (!result.ok) {
      void this.fail(toServiceError(result, this.#request, timeoutMs));
      return;
    }
    const { live, summary } = result;
    if (live === undefined) throw new Error('Expected the state of the live audio.');
    this.#wantedS = live.wantedS;
    this.#hasMore = live.hasMore;
    // Once more, for the windows that found no room.
    if (live.hasMore) this.#isFinished = false;
    this.#items.progressed(live);
    if (live.atEnd) this.#summary = summary;
    this.#tell();
  }

  #score(input: SlottedInput, started: { inputs: number }): void {
    const { scheduler, slots } = this.#parts;
    const { slot } = input;
    if (this.#stop.signal.aborted) {
      slots.release(slot);
      return;
    }
    const window = this.#items.announced(input);
    started.inputs++;
    scheduler.push(this, {
      sound: codedSoundOf(input),
      model: this.#model.index,
      slot,
      enqueuedMs: performance.now(),
      started() {},
      scored: ([score = Number.NaN]) => {
        slots.release(slot);
        this.#inputOver(started);
        if (!Number.isFinite(score)) {
          void this.fail(new ServiceError('NON_FINITE_OUTPUT', { model: this.#model.id }));
          return;
        }
        window.scores[input.inputIndex] = score;
        window.missing--;
        this.#tell();
        this.#work();
      },
      failed: (cause) => {
        slots.release(slot);
        this.#inputOver(started);
        void this.fail(new ServiceError('INTERNAL', {}, { cause }));
      },
    });
  }

  /** As with files, owners with much in work wait while others are active (see StartedWork). */
  #inputOver(started: { inputs: number }): void {
    if (--started.inputs > 0) return;
    this.#parts.started.end(this.group);
    this.#parts.prepare.lookAgain();
  }

  #tell(): void {
    const { onEvent } = this.#request;
    for (let event = this.#items.take(); event !== undefined; event = this.#items.take()) {
      if (this.#stop.signal.aborted) return;
      onEvent(event);
    }
    if (this.#summary === undefined || !this.#items.isEmpty || this.#stop.signal.aborted) return;
    const { decodeMs, featuresMs, skipped, damagedAtS, ...measured } = this.#summary;
    const timesMs = { decode: decodeMs, features: featuresMs };
    const summary = { ...measured, ...uncertaintyOf(this.#model), timesMs };
    onEvent({ kind: 'end', summary, skipped });
    void this.close();
  }
}
