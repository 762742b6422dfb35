// SPDX-License-Identifier: Apache-2.0
import { loadAddon, type PrepareSummary } from '../../base/addon/addon.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { LiveAudio, LiveRequest } from '../analyser/live.js';
import type { LiveTask, PrepareResult, SlottedInput } from '../prepare/prepare-task.js';
import type { JobOwner } from '../scoring/scheduler.js';
import { type AnsweringDetector, uncertaintyOf } from './answering-detector.js';
import { Flight, type FlightRun } from './flight.js';
import { LiveItems } from './live-items.js';
import { LiveSecondLook } from './live-second-look.js';
import { toServiceError } from './stage-failure.js';
import type { Threads } from './threads.js';

/** Audio is decoded in pieces of this length, so that little is left to do when a window is whole. */
const STEP_S = 1;
/** More at once would keep a thread from others. */
const MAX_TASK_S = 5;
/** Overhead per piece. */
const PIECE_BYTES = 512;
/** Of one stream, in front of the scoring threads. */
const MAX_UNSCORED_WINDOWS = 1;

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
  readonly #threads: Threads;
  readonly #taskTimeoutMs: number;
  readonly #open = new Set<LiveStream>();

  constructor(threads: Threads, taskTimeoutMs: number) {
    this.#threads = threads;
    this.#taskTimeoutMs = taskTimeoutMs;
  }

  open(request: LiveRequest, model: LiveModel): LiveAudio {
    const onClosed = () => this.#open.delete(stream);
    const stream = new LiveStream(this.#threads, request, model, this.#taskTimeoutMs, onClosed);
    this.#open.add(stream);
    return stream;
  }

  /** Fails the open streams. */
  async close(): Promise<void> {
    for (const stream of this.#open) stream.fail(new ServiceError('STOPPING'));
    await Promise.all([...this.#open].map((stream) => stream.close()));
  }
}

/** One stream: a flight for each of its tasks, one after the other. */
class LiveStream implements LiveAudio, JobOwner, FlightRun {
  readonly group: string;
  readonly modelId: string;
  readonly #threads: Threads;
  readonly #request: LiveRequest;
  readonly #model: LiveModel;
  readonly #taskTimeoutMs: number;
  readonly #onClosed: () => void;
  readonly #stream = ++lastStream;
  readonly #items = new LiveItems();
  readonly #secondLook = new LiveSecondLook();
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
  #flight: Flight | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(
    threads: Threads,
    request: LiveRequest,
    model: LiveModel,
    taskTimeoutMs: number,
    onClosed: () => void,
  ) {
    this.group = request.owner;
    this.modelId = model.id;
    this.#threads = threads;
    this.#request = request;
    this.#model = model;
    this.#taskTimeoutMs = taskTimeoutMs;
    this.#onClosed = onClosed;
  }

  get waitingS(): number {
    return this.#pendingS + this.#runningS;
  }

  get waitingBytes(): number {
    return this.#pendingBytes + this.#runningBytes;
  }

  get settled(): boolean {
    return this.#isClosed;
  }

  push(bytes: Uint8Array, durationS: number): void {
    if (this.#isFinishing || this.#isClosed) return;
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

  announced(input: SlottedInput): void {
    (input.isCloser ? this.#secondLook : this.#items).announced(input);
  }

  scored(input: SlottedInput, [score = Number.NaN]: Float64Array): void {
    if (!Number.isFinite(score)) {
      this.fail(new ServiceError('NON_FINITE_OUTPUT', { model: this.#model.id }));
      return;
    }
    if (input.isCloser) this.#secondLook.scored(input, score);
    else {
      const window = this.#items.scored(input, score);
      if (window !== undefined) this.#secondLook.add(input.windowIndex, window);
    }
    this.#tell();
    this.#work();
  }

  /** Tells of the failure, and closes. */
  fail(reason: unknown): void {
    if (this.#isClosed) return;
    this.#request.onEvent({ kind: 'failed', reason });
    void this.close();
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#pieces = [];
    this.#flight?.stop(new Error('The stream is over.'));
    await this.#running;
    loadAddon().closeLiveStream(this.#stream);
    this.#onClosed();
  }

  #work(): void {
    if (this.#running !== undefined || this.#isClosed) return;
    if (this.#isFinished && !this.#secondLook.isWanting) return;
    if (this.#items.unscored >= MAX_UNSCORED_WINDOWS) return;
    const hasNews = this.#pendingS >= Math.min(this.#wantedS, STEP_S);
    if (!hasNews && !this.#hasMore && !this.#isFinishing) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      this.#tell();
      this.#work();
    });
  }

  async #run(): Promise<void> {
    const { prepare, turns } = this.#threads;
    turns.note(this.group);
    const flight = new Flight(this.#threads, {
      owner: this,
      model: this.#model.index,
      run: this,
      adjustScore: this.#request.adjustScore,
      watch: this.#threads.counting(this.group),
    });
    this.#flight = flight;
    try {
      const result = await flight.prepare(prepare, (control) => this.#makeTask(flight.id, control));
      this.#take(result);
    } catch (error) {
      this.fail(error instanceof ServiceError ? error : new ServiceError('INTERNAL', {}, { cause: error }));
    } finally {
      flight.close();
    }
  }

  #makeTask(id: number, control: number): LiveTask {
    const { minDurationS, maxDurationS, silenceThresholdPercent, format } = this.#request;
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
    const timeLimitMs = this.#taskTimeoutMs;
    return {
      id,
      control,
      model: this.#model.index,
      stream: this.#stream,
      format,
      options: { minDurationS, maxDurationS, silenceThresholdPercent, timeLimitMs },
      pieces,
      isLast: this.#isFinished,
      closerWindows: this.#secondLook.takeWanted(),
    };
  }

  #take(result: PrepareResult): void {
    this.#runningS = 0;
    this.#runningBytes = 0;
    if (this.#isClosed) return;
    if (!result.ok) {
      this.fail(toServiceError(result, this.#request, this.#taskTimeoutMs));
      return;
    }
    const { live, summary } = result;
    if (live === undefined) throw new Error('Expected the state of the live audio.');
    this.#wantedS = live.wantedS;
    this.#hasMore = live.hasMore;
    // Once more, for the windows that found no room.
    if (live.hasMore) this.#isFinished = false;
    this.#items.progressed(live);
    if (live.atEnd && !live.hasMore) {
      this.#secondLook.endAt(live.certainWindows);
      this.#summary = summary;
    }
    this.#tell();
  }

  #tell(): void {
    const { onEvent } = this.#request;
    for (let event = this.#items.take(); event !== undefined; event = this.#items.take()) {
      if (this.#isClosed) return;
      onEvent(event);
    }
    if (this.#summary === undefined || !this.#items.isEmpty || this.#isClosed) return;
    if (this.#secondLook.isBusy || this.#running !== undefined) return;
    const { decodeMs, featuresMs, skipped, damagedAtS, ...measured } = this.#summary;
    const timesMs = { decode: decodeMs, features: featuresMs };
    const summary = { ...measured, ...uncertaintyOf(this.#model), timesMs };
    const closerWindows = this.#secondLook.windowsUntil(summary.durationS);
    onEvent({ kind: 'end', summary, skipped, ...(closerWindows.length > 0 && { closerWindows }) });
    void this.close();
  }
}
