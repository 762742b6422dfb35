// SPDX-License-Identifier: Apache-2.0
//
// This room runs the threads that decode files and compute model inputs, by the native addon. Recordings
// read in ranges have threads of their own, so that they may wait for bytes without blocking requests.
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { FairQueue } from '../threads/fair-queue.js';
import type {
  InputsReady,
  LiveTask,
  PrepareResult,
  PrepareTask,
  PrepareWorkerData,
  ThreadReady,
} from './prepare-task.js';
import { isWhole } from './whole-buffer.js';

export interface PrepareEvents {
  /** Whether a file of this owner may begin; long ones always may. When that changes, call `lookAgain`. */
  mayBegin(owner: string): boolean;
  /** Inputs of a long file are ready while the work on it goes on. */
  onInputs(ready: InputsReady): void;
  /** A thread died while it had nothing to do; the pool replaces it. */
  onThreadError(error: unknown): void;
}

type PoolTask = PrepareTask | LiveTask;

export interface PrepareOrder {
  /** The owner of the work: owners take turns. */
  readonly owner?: string;
  readonly isLong?: boolean;
}

interface Waiting {
  readonly owner: string;
  readonly isLong: boolean;
  readonly sinceMs: number;
  readonly makeTask: (control: number) => PoolTask;
  readonly resolve: (result: PrepareResult) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The threads that prepare files. The queue in front of them is our own, so that owners take turns, and abandoned work leaves
 * it at once and never reaches a thread; the caller bounds its length (see ExpectedWait).
 */
export class PreparePool {
  /** Resolves when every thread can take work; until then none may be ended. */
  readonly ready: Promise<void>;
  /** Why threads run without a filter of system calls; undefined while none has said so. */
  sandboxFailure: string | undefined;
  readonly #piscina: Piscina<PoolTask, PrepareResult>;
  readonly #waiting = new FairQueue<string, Waiting>();
  readonly #waitingLong = new FairQueue<string, Waiting>();
  /** Indices in the control block that no running task has: one per idle thread. */
  readonly #idle: number[];
  readonly #running = new Set<Promise<PrepareResult>>();
  readonly #maxRunningLong: number;
  readonly #mayBegin: PrepareEvents['mayBegin'];
  #runningLong = 0;
  #isClosed = false;

  constructor(threads: number, workerData: PrepareWorkerData, events: PrepareEvents) {
    this.#idle = Array.from({ length: threads }, (_, i) => i);
    this.#mayBegin = events.mayBegin;
    this.#maxRunningLong = Math.max(1, threads - 1);
    this.#piscina = new Piscina({
      filename: fileURLToPath(new URL('./prepare-worker.js', import.meta.url)),
      minThreads: threads,
      maxThreads: threads,
      // Never used, since a task is only handed over when a thread is free: a second wall.
      maxQueue: threads,
      recordTiming: false,
      workerData,
    });
    let starting = threads;
    this.ready = new Promise((resolve, reject) => {
      this.#piscina.on('message', (message: InputsReady | ThreadReady) => {
        if ('id' in message) {
          events.onInputs(message);
          return;
        }
        this.sandboxFailure ??= message.sandboxFailure;
        if (--starting === 0) resolve();
      });
      // Without a listener the death of an idle thread would be the end of the process.
      this.#piscina.on('error', (error) => {
        if (starting > 0) reject(error);
        else events.onThreadError(error);
      });
    });
  }

  get waitingCount(): number {
    return this.#waiting.size + this.#waitingLong.size;
  }

  /**
   * Runs a task when a thread is free. `makeTask` is called at that moment, so that time limits count from
   * there, with the index in the control block that is the task's own until its promise settles. Long work never
   * takes the last thread, so that the rest need not wait for it. An abort removes work that still waits and rejects
   * with the signal's reason; running work is stopped through its RunControl instead.
   */
  run(
    makeTask: (control: number) => PoolTask,
    signal: AbortSignal,
    { owner = '', isLong = false }: PrepareOrder = {},
  ): Promise<PrepareResult> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const waiting: Waiting = { owner, isLong, sinceMs: performance.now(), makeTask, resolve, reject };
      const queue = isLong ? this.#waitingLong : this.#waiting;
      queue.push(owner, waiting);
      signal.addEventListener('abort', () => queue.take(owner, waiting) && reject(signal.reason), {
        once: true,
      });
      this.#dispatch();
    });
  }

  /** Call it when an owner may begin that might not before. */
  lookAgain(): void {
    this.#dispatch();
  }

  /** Waits for running tasks; stop them first, and abort waiting ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#running);
    // Its `close` would keep everything that the pool refers to for 30 s.
    await this.#piscina.destroy();
  }

  #dispatch(): void {
    if (this.#isClosed) return;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const control = this.#idle.pop();
      if (control === undefined) return;
      const { isLong, owner, makeTask, resolve, reject } = next;
      // `mayBegin` may say something else by now.
      (isLong ? this.#waitingLong : this.#waiting).shift((other) => other === owner);
      if (isLong) this.#runningLong++;
      const task = makeTask(control);
      const running = this.#piscina.run(task, { transferList: buffersOf(task) });
      this.#running.add(running);
      running.then(resolve, reject).finally(() => {
        this.#running.delete(running);
        this.#idle.push(control);
        if (isLong) this.#runningLong--;
        this.#dispatch();
      });
    }
  }

  /** Of the two queues, the one whose first has waited longer. */
  #next(): Waiting | undefined {
    const short = this.#waiting.peek(this.#mayBegin);
    const long = this.#runningLong < this.#maxRunningLong ? this.#waitingLong.peek() : undefined;
    if (short === undefined || long === undefined) return short ?? long;
    return long.sinceMs < short.sinceMs ? long : short;
  }
}

/** Buffers that can be handed over without a copy, because they hold nothing else. */
const buffersOf = (task: PoolTask): ArrayBuffer[] =>
  'pieces' in task ? task.pieces.filter(isWhole).map(({ buffer }) => buffer as ArrayBuffer) : [];
