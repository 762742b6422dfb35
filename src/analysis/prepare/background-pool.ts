// SPDX-License-Identifier: Apache-2.0
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { ServiceError } from '../../base/errors/service-error.js';
import type {
  InputsReady,
  PrepareResult,
  PrepareWorkerData,
  RangeWanted,
  RecordingTask,
  ThreadReady,
} from './prepare-task.js';

export interface BackgroundEvents {
  onInputs(ready: InputsReady): void;
  onRangeWanted(wanted: RangeWanted): void;
  onThreadError(error: unknown): void;
}

const IDLE_MS = 10_000;

interface Waiting {
  readonly start: (control: number) => void;
}

/**
 * Threads of long recordings: one each, with the lowest priority, so that they compute when nobody else does. Such a
 * thread may wait for minutes, for ranges of its file or for room in front of the scoring threads; the threads of
 * requests (PreparePool) would be taken from them. Made when there is work.
 */
export class BackgroundPool {
  readonly #piscina: Piscina<RecordingTask, PrepareResult>;
  readonly #idle: number[];
  readonly #waiting: Waiting[] = [];
  readonly #running = new Set<Promise<PrepareResult>>();
  #isClosed = false;

  constructor(runs: number, workerData: PrepareWorkerData, events: BackgroundEvents) {
    this.#idle = Array.from({ length: runs }, (_, i) => i);
    this.#piscina = new Piscina({
      filename: fileURLToPath(new URL('./prepare-worker.js', import.meta.url)),
      minThreads: 0,
      maxThreads: runs,
      maxQueue: runs,
      idleTimeout: IDLE_MS,
      recordTiming: false,
      workerData,
    });
    this.#piscina.on('message', (message: InputsReady | RangeWanted | ThreadReady) => {
      if ('ready' in message) return;
      if ('offset' in message) events.onRangeWanted(message);
      else events.onInputs(message);
    });
    // Without a listener the death of an idle thread would be the end of the process.
    this.#piscina.on('error', (error) => events.onThreadError(error));
  }

  /** As PreparePool.run. @throws ServiceError STOPPING */
  run(makeTask: (control: number) => RecordingTask, signal: AbortSignal): Promise<PrepareResult> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#isClosed) throw new ServiceError('STOPPING');
      const waiting: Waiting = {
        start: (control) => {
          const running = this.#piscina.run(makeTask(control));
          this.#running.add(running);
          running.then(resolve, reject).finally(() => {
            this.#running.delete(running);
            this.#idle.push(control);
            this.#dispatch();
          });
        },
      };
      this.#waiting.push(waiting);
      const leave = (): void => {
        const index = this.#waiting.indexOf(waiting);
        if (index < 0) return;
        this.#waiting.splice(index, 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (!this.#isClosed && this.#waiting.length > 0) {
      const control = this.#idle.pop();
      if (control === undefined) return;
      this.#waiting.shift()?.start(control);
    }
  }

  // jscpd:ignore-start: pools of Piscina end alike.
  /** As PreparePool.close. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#running);
    await this.#piscina.destroy();
  }
  // jscpd:ignore-end
}
