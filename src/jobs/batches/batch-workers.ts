// SPDX-License-Identifier: Apache-2.0
//
// This room turns batches into jobs: it reads manifests line by line, watches the jobs, and writes the
// result. A killed worker loses no line.
import { once } from 'node:events';
import type { Logger } from '../../base/observe/log.js';
import { isTransient } from '../../state/database/database.js';
import type { BatchWork, BatchWorkTable } from '../queue/batch-work-table.js';
import { FairPlaces, type WaitingWork } from '../turns/fair-places.js';
import { type TurnLimits, TurnSlice, type TurnSliceOptions } from '../turns/turn-slice.js';
import type { BatchTurn } from './run-batch.js';

export interface BatchWorkersOptions {
  /** Batches at once. */
  readonly parallel: number;
  /** Of them, of one account. */
  readonly perAccount: number;
  /** Time between two looks; announcements are faster. */
  readonly pollMs: number;
  readonly run: (
    work: BatchWork,
    nextLook: (signal: AbortSignal) => Promise<void>,
    limits: TurnLimits,
  ) => Promise<BatchTurn>;
  readonly log: Logger;
  /** For tests. */
  readonly slice?: Partial<Pick<TurnSliceOptions, 'sliceMs' | 'overdueMs'>>;
}

/** A batch whose lines are in work needs no worker for a while. */
const SLICE_MS = 5000;
/** Reading so slowly is not waited for while others wait. */
const OVERDUE_MS = 120_000;
/** Looks between searches for dead workers, and for what they left. */
const REAP_EVERY = 3;

/** Each line that ends announces a change; the changes of this time are one look. */
const LOOK_PAUSE_MS = 200;

/** Takes batches and brings them to their ends, next to other hosts. It does little: `JobWorkers` have the lines. */
export class BatchWorkers {
  readonly #workTable: BatchWorkTable;
  readonly #options: BatchWorkersOptions;
  readonly #looks = new EventTarget();
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #places: FairPlaces;
  readonly #timer: NodeJS.Timeout;
  readonly #unfollow: () => void;
  #soon: NodeJS.Timeout | undefined;
  #taking: Promise<void> | undefined;
  #lookAgain = false;
  #polls = 0;

  constructor(workTable: BatchWorkTable, options: BatchWorkersOptions) {
    this.#workTable = workTable;
    this.#options = options;
    this.#places = new FairPlaces({ places: options.parallel, perAccount: options.perAccount });
    this.#timer = setInterval(() => {
      if (this.#polls++ % REAP_EVERY === 0) void this.#reap();
      this.#look();
    }, options.pollMs);
    this.#unfollow = workTable.follow(() => {
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
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    this.#unfollow();
    await this.#taking;
    await Promise.allSettled(this.#running);
  }

  #look(): void {
    this.#looks.dispatchEvent(new Event('look'));
    this.#lookAgain = true;
    this.#taking ??= this.#take().then(() => {
      this.#taking = undefined;
    });
  }

  async #take(): Promise<void> {
    const { signal } = this.#stopping;
    const waiting: WaitingWork<BatchWork> = {
      take: async (except) => (signal.aborted ? undefined : await this.#workTable.take(except)),
      waits: (except) => this.#workTable.waits(except),
    };
    try {
      while (this.#lookAgain) {
        this.#lookAgain = false;
        await this.#places.fill(waiting, (work) => this.#begin(work));
      }
    } catch (error) {
      this.#tell(error, 'batches could not be looked for');
    }
  }

  #begin(work: BatchWork): void {
    const { account, id, attempts } = work.job;
    const facts = { job: id, attempt: attempts };
    const { log, run } = this.#options;
    const nextLook = async (signal: AbortSignal): Promise<void> =>
      void (await once(this.#looks, 'look', { signal }));
    log.info({ ...facts, linesRead: work.linesRead }, 'batch taken');
    this.#places.enter(account);
    const slice = new TurnSlice({
      sliceMs: SLICE_MS,
      overdueMs: OVERDUE_MS,
      isWanted: () => this.#places.makesRoom(account),
      ...this.#options.slice,
    });
    const done = run(work, nextLook, { stopping: this.#stopping.signal, slice })
      .then((outcome) => log.info({ ...facts, outcome }, 'batch ended or was handed on'))
      // Another worker goes on when the lease has ended.
      .catch((error) => this.#tell(error, 'batch dropped'))
      .finally(() => {
        this.#places.leave(account);
        this.#running.delete(done);
        if (!this.#stopping.signal.aborted) this.#look();
      });
    this.#running.add(done);
  }

  async #reap(): Promise<void> {
    const { log } = this.#options;
    try {
      const { taken, failed } = await this.#workTable.reap();
      if (taken > 0) log.warn({ batches: taken }, 'took over batches of dead workers');
      for (const { id } of failed) log.warn({ job: id }, 'batch given up: its workers died');
      await this.#workTable.tidy();
    } catch (error) {
      this.#tell(error, 'batches of dead workers could not be looked for');
    }
  }

  #tell(error: unknown, what: string): void {
    this.#options.log[isTransient(error) ? 'warn' : 'error']({ err: error }, what);
  }
}
