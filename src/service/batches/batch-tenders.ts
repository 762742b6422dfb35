// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import type { Logger } from '../../base/observe/log.js';
import { isTransient } from '../../state/database/database.js';
import type { BatchDesk, BatchWork } from '../../state/jobs/batch-desk.js';
import type { BatchTurn } from './tend-batch.js';

export interface BatchTendersOptions {
  /** Batches at once. */
  readonly parallel: number;
  /** How often to look at what is going on; announcements are faster. */
  readonly pollMs: number;
  readonly tend: (
    work: BatchWork,
    nextLook: (signal: AbortSignal) => Promise<void>,
    stopping: AbortSignal,
  ) => Promise<BatchTurn>;
  readonly log: Logger;
}

/** Each line that ends announces a change; so many of them are one look. */
const LOOK_PAUSE_MS = 200;

/** Tends batches, next to tenders on other hosts. A tender does little: workers have the lines. */
export class BatchTenders {
  readonly #desk: BatchDesk;
  readonly #options: BatchTendersOptions;
  readonly #looks = new EventTarget();
  readonly #stopping = new AbortController();
  readonly #tended = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  readonly #unfollow: () => void;
  #soon: NodeJS.Timeout | undefined;
  #taking: Promise<void> | undefined;

  constructor(desk: BatchDesk, options: BatchTendersOptions) {
    this.#desk = desk;
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), options.pollMs);
    this.#unfollow = desk.follow(() => {
      this.#soon ??= setTimeout(() => {
        this.#soon = undefined;
        this.#look();
      }, LOOK_PAUSE_MS);
    });
    this.#look();
  }

  /** Gives the batches back, and waits until that is done. */
  async close(): Promise<void> {
    this.#stopping.abort(new Error('The server stops.'));
    for (const timer of [this.#timer, this.#soon]) clearTimeout(timer);
    this.#unfollow();
    await this.#taking;
    await Promise.allSettled(this.#tended);
  }

  #look(): void {
    this.#looks.dispatchEvent(new Event('look'));
    this.#taking ??= this.#take().then(() => {
      this.#taking = undefined;
    });
  }

  async #take(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      while (!signal.aborted && this.#tended.size < this.#options.parallel) {
        const work = await this.#desk.take();
        if (work === undefined) return;
        this.#begin(work);
      }
    } catch (error) {
      this.#tell(error, 'batches could not be looked for');
    }
  }

  #begin(work: BatchWork): void {
    const facts = { job: work.job.id, attempt: work.job.attempts };
    const { log, tend } = this.#options;
    const nextLook = async (signal: AbortSignal): Promise<void> =>
      void (await once(this.#looks, 'look', { signal }));
    log.info({ ...facts, linesRead: work.linesRead }, 'batch taken');
    const done = tend(work, nextLook, this.#stopping.signal)
      .then((outcome) => log.info({ ...facts, outcome }, 'batch ended or was handed on'))
      // Another tender goes on when the lease has ended.
      .catch((error) => this.#tell(error, 'batch dropped'))
      .finally(() => this.#tended.delete(done));
    this.#tended.add(done);
  }

  #tell(error: unknown, what: string): void {
    this.#options.log[isTransient(error) ? 'warn' : 'error']({ err: error }, what);
  }
}
