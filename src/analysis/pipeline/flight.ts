// SPDX-License-Identifier: Apache-2.0
import { codedSoundOf } from '../../base/addon/addon.js';
import type { ErrorKey } from '../../base/errors/catalogue.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { ScoreAdjustment } from '../analyser/analyser.js';
import type { InputSlots } from '../memory/input-slots.js';
import type { PrepareOrder } from '../prepare/prepare-pool.js';
import type { InputsReady, PrepareResult, SlottedInput } from '../prepare/prepare-task.js';
import type { RunControl } from '../prepare/run-control.js';
import type { JobOwner, Scheduler } from '../scoring/scheduler.js';

/** Shared by all flights of a pool of prepare threads. */
export interface FlightPath {
  readonly slots: InputSlots;
  readonly scheduler: Pick<Scheduler<JobOwner>, 'push' | 'remove'>;
  readonly control: RunControl;
  /** Flights that are not closed, by id. */
  readonly flights: Map<number, Flight>;
}

/** Collects the model's outputs. */
export interface FlightRun {
  /** True once no further result can matter. */
  readonly settled: boolean;
  announced(input: SlottedInput): void;
  /** @param atMs when a scoring thread began with the input */
  takenUp?(input: SlottedInput, waitedMs: number, atMs: number): void;
  /** @param atMs when the answer came */
  scored(input: SlottedInput, output: Float64Array, atMs: number): void;
  /** Only the first reason counts. */
  fail(reason: unknown): void;
}

/** Told when a thread begins with the task, and when the last input is back after that. */
export interface FlightWatch {
  begun(): void;
  over(): void;
}

export interface FlightOptions {
  readonly owner: JobOwner;
  readonly model: number;
  readonly run: FlightRun;
  readonly adjustScore?: ScoreAdjustment | undefined;
  /** Its abort stops the flight. */
  readonly signal?: AbortSignal;
  readonly watch?: FlightWatch | undefined;
}

interface Pool<Task> {
  run(makeTask: (control: number) => Task, signal: AbortSignal, order: PrepareOrder): Promise<PrepareResult>;
}

let lastId = 0;

/** One task of a prepare thread, and its inputs on their way through the scoring threads. */
export class Flight {
  /** Of the task; never used twice. */
  readonly id = ++lastId;
  readonly #path: FlightPath;
  readonly #options: FlightOptions;
  readonly #stop = new AbortController();
  readonly #abandon: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Its index in the control block, while a prepare thread works on it. */
  #control: number | undefined;
  /** The task, from the moment a thread begins with it, and its inputs that are not scored yet. */
  #inWork = 0;
  #accepted = 0;
  #onAccepted = (): void => {};

  constructor(path: FlightPath, options: FlightOptions) {
    this.#path = path;
    this.#options = options;
    this.#abandon = () => this.stop(options.signal?.reason);
    options.signal?.addEventListener('abort', this.#abandon, { once: true });
    path.flights.set(this.id, this);
  }

  /** Aborted when the flight is stopped. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Replaces the earlier time limit. */
  stopAfter(timeoutMs: number, key: Extract<ErrorKey, 'QUEUE_DEADLINE' | 'ANALYSIS_TIMEOUT'>): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.stop(new ServiceError(key, { timeoutMs })), timeoutMs);
  }

  /** Has a thread of the pool prepare the inputs. Never settles while the thread works. */
  async prepare<Task>(
    pool: Pool<Task>,
    makeTask: (control: number) => Task,
    isLong = false,
  ): Promise<PrepareResult> {
    const { owner, watch } = this.#options;
    const begin = (control: number): Task => {
      this.#path.control.reset(control);
      this.#control = control;
      this.#inWork++;
      watch?.begun();
      return makeTask(control);
    };
    try {
      const result = await pool.run(begin, this.#stop.signal, { owner: owner.group, isLong });
      this.#control = undefined;
      // Announcements may come later than the result, but their order is that of the audio.
      await this.#acceptedAtLeast(result.inputCount - result.inputs.length);
      this.accept(result.inputs);
      return result;
    } finally {
      this.#control = undefined;
      if (this.#inWork > 0) this.#leave();
    }
  }

  accept(inputs: readonly SlottedInput[]): void {
    const { owner, model, run, adjustScore } = this.#options;
    for (const input of inputs) {
      this.#accepted++;
      this.#inWork++;
      if (run.settled) {
        this.#giveBack(input);
        continue;
      }
      run.announced(input);
      this.#path.scheduler.push(owner, {
        model,
        slot: input.slot,
        sound: codedSoundOf(input),
        enqueuedMs: performance.now(),
        started: (waitedMs) => run.takenUp?.(input, waitedMs, performance.now()),
        wantsVector: adjustScore !== undefined,
        scored: (output, vector) => {
          this.#giveBack(input);
          const adjusted = adjustScore && vector ? output.map((score) => adjustScore(score, vector)) : output;
          run.scored(input, adjusted, performance.now());
        },
        failed: (cause) => {
          this.#giveBack(input);
          run.fail(new ServiceError('INTERNAL', {}, { cause }));
        },
      });
    }
    this.#onAccepted();
  }

  /** Ends what waits or is worked on, for all flights of the owner. Only the first reason counts. */
  stop(reason: unknown): void {
    if (this.#stop.signal.aborted) return;
    const { owner, run } = this.#options;
    run.fail(reason);
    if (this.#control !== undefined) this.#path.control.stop(this.#control);
    this.#stop.abort(reason);
    for (const job of this.#path.scheduler.remove(owner)) job.failed(reason);
    this.#onAccepted();
  }

  /** Call it once the result is there. */
  close(): void {
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#abandon);
    this.#path.flights.delete(this.id);
  }

  async #acceptedAtLeast(count: number): Promise<void> {
    while (this.#accepted < count && !this.#stop.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#onAccepted = resolve;
      });
    }
  }

  #giveBack({ slot }: SlottedInput): void {
    this.#path.slots.release(slot);
    if (this.#control !== undefined) this.#path.control.removePending(this.#control);
    this.#leave();
  }

  #leave(): void {
    this.#inWork--;
    if (this.#inWork === 0) this.#options.watch?.over();
  }
}

/** Takes inputs that a thread has sent on its way. */
export function acceptInputs({ flights, slots }: FlightPath, { id, inputs }: InputsReady): void {
  const flight = flights.get(id);
  if (flight !== undefined) flight.accept(inputs);
  // It was given up, or its thread died, after they were sent.
  else for (const { slot } of inputs) slots.release(slot);
}
