// SPDX-License-Identifier: Apache-2.0
//
// This room runs jobs from the queue in src/jobs/queue, in turns, so that accounts share the workers. Each
// step is saved, so another process can continue after a crash.
import type { Logger } from '../../base/observe/log.js';
import { parseTraceparent } from '../../base/tracing/trace-context.js';
import { isTransient } from '../../state/database/database.js';
import type { Job, Work } from '../queue/job.js';
import type { JobWorkTable } from '../queue/job-work-table.js';
import { FairPlaces, type WaitingWork } from '../turns/fair-places.js';
import { type TurnLimits, TurnSlice, type TurnSliceOptions } from '../turns/turn-slice.js';
import { sparePlaces } from './job-places.js';
import type { JobTurn } from './job-runner.js';

export interface JobWorkersOptions {
  /** Jobs at once. One more is begun for an account that has none in work here. */
  readonly workers: number;
  /** Interval between looks for due jobs and those of dead workers; announcements are faster. */
  readonly pollMs: number;
  readonly run: (work: Work, limits: TurnLimits) => Promise<JobTurn>;
  /** Called after each turn, and for jobs whose last worker has died. */
  readonly onTurn: (job: Job, turn: JobTurn | 'worker died', tookMs: number) => void;
  /** Called after each look for the jobs of dead workers. */
  readonly onPoll?: () => void;
  readonly log: Logger;
  /** For tests. */
  readonly slice?: Partial<Pick<TurnSliceOptions, 'sliceMs' | 'overdueMs'>>;
}

/** Work that ends within this time is never interrupted; opening a recording again costs far less. */
const SLICE_MS = 20_000;
/** A minute of audio that takes so long to arrive is not waited for while others wait. */
const OVERDUE_MS = 300_000;

/** Takes jobs and does them, next to other workers on this host and on others. */
export class JobWorkers {
  readonly #workTable: JobWorkTable;
  readonly #options: JobWorkersOptions;
  readonly #atWork = new Set<Promise<void>>();
  readonly #places: FairPlaces;
  readonly #unfollow: () => void;
  readonly #timer: NodeJS.Timeout;
  #turnOver = new AbortController();
  #isClosed = false;
  #looking: Promise<void> | undefined;
  #lookAgain = false;

  constructor(workTable: JobWorkTable, options: JobWorkersOptions) {
    this.#workTable = workTable;
    this.#options = options;
    const { workers } = options;
    this.#places = new FairPlaces({ places: workers, spare: sparePlaces(workers) });
    this.#unfollow = workTable.follow(() => this.#look());
    this.#timer = setInterval(() => void this.#upkeep(), options.pollMs);
    this.#look();
  }

  /** Jobs in work. */
  get busy(): number {
    return this.#places.busy;
  }

  /** Ends the turns of the jobs in work: they begin again from their last saved step. */
  takeAnew(): void {
    this.#turnOver.abort(new Error('The worker takes its jobs anew.'));
    this.#turnOver = new AbortController();
  }

  /** Gives the jobs back, and waits until that is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unfollow();
    clearInterval(this.#timer);
    this.#turnOver.abort(new Error('The worker stops.'));
    await this.#looking;
    await Promise.allSettled(this.#atWork);
  }

  async #upkeep(): Promise<void> {
    await this.#tried('look after the jobs of dead workers', async () => {
      const { taken, failed } = await this.#workTable.reap();
      if (taken > 0) this.#options.log.warn({ jobs: taken }, 'took over jobs of dead workers');
      for (const job of failed) this.#options.onTurn(job, 'worker died', 0);
    });
    this.#options.onPoll?.();
    this.#look();
  }

  #look(): void {
    this.#lookAgain = true;
    this.#looking ??= this.#tried('take a job', () => this.#takeAll()).finally(() => {
      this.#looking = undefined;
    });
  }

  async #takeAll(): Promise<void> {
    const waiting: WaitingWork<Work> = {
      take: async (except) => (this.#isClosed ? undefined : await this.#workTable.take(except)),
      waits: (except) => this.#workTable.waits(except),
    };
    while (this.#lookAgain) {
      this.#lookAgain = false;
      await this.#places.fill(waiting, (work) => this.#begin(work));
    }
  }

  #begin(work: Work): void {
    const { log, run, onTurn } = this.#options;
    const { job } = work;
    const trace = job.batchId === undefined ? parseTraceparent(job.traceparent ?? '') : undefined;
    const facts = { job: job.id, attempt: job.attempts, ...(trace && { trace_id: trace.traceId }) };
    const beganMs = performance.now();
    log.info({ ...facts, savedS: job.audioS }, 'job begun');
    this.#places.enter(job.account);
    const slice = new TurnSlice({
      sliceMs: SLICE_MS,
      overdueMs: OVERDUE_MS,
      isWanted: () => this.#places.makesRoom(job.account),
      ...this.#options.slice,
    });
    const done = run(work, { stopping: this.#turnOver.signal, slice })
      .then((turn) => {
        const { outcome } = turn;
        const failure = 'failure' in turn ? { errorKey: turn.failure.key, err: turn.failure.cause } : {};
        log[outcome === 'failed' || outcome === 'retried' ? 'warn' : 'info'](
          { ...facts, outcome, ...failure },
          'job ended or was handed on',
        );
        onTurn(job, turn, performance.now() - beganMs);
      })
      // Another worker goes on when the lease has ended.
      .catch((error) => log.error({ ...facts, err: error }, 'job dropped'))
      .finally(() => {
        this.#places.leave(job.account);
        this.#atWork.delete(done);
        if (!this.#isClosed) this.#look();
      });
    this.#atWork.add(done);
  }

  async #tried(what: string, work: () => Promise<void>): Promise<void> {
    try {
      if (!this.#isClosed) await work();
    } catch (error) {
      const { log } = this.#options;
      if (isTransient(error)) log.warn({ err: error }, `the database is not there to ${what}`);
      else log.error({ err: error }, `could not ${what}`);
    }
  }
}
