// SPDX-License-Identifier: Apache-2.0
//
// This room keeps jobs, batches and webhook deliveries in the database. Their tables are their queues: workers take rows under a lease.
import { randomUUID } from 'node:crypto';
import { dayOf } from '../../state/data-folder/days.js';
import { Conditions } from '../../state/database/conditions.js';
import type { Database, Row, Transaction, Value } from '../../state/database/database.js';
import { nowMs } from '../../state/database/now-ms.js';
import { skipLocked } from '../../state/database/pieces.js';
import { hasRowOfOthers, onlyOthers } from '../../state/database/row-of-others.js';
import { addUsage, type UsageRow } from '../../state/records/usage-table.js';
import { addDelivery } from './add-delivery.js';
import { type Job, type JobFailure, type Work, WorkLost, workerDied } from './job.js';
import { isQueued, jobPriority, linePriority, lowestPriority, queueOrder } from './job-priority.js';
import { jobColumns, jobOf } from './job-rows.js';
import { CHANGE_TOPIC, WORK_TOPIC } from './job-table.js';
import { NO_SOURCE, resultObjectOf, sourceForRetry } from './job-text.js';
import {
  endTries,
  LEASE_MS,
  MAX_TRIES,
  OverdueLeases,
  pauseAfterMs,
  RENEWAL_TIMEOUT_MS,
  RETRY_DELAY_MS,
  type Reaped,
} from './leases.js';

/** Jobs, in usage and audit. */
export const JOB_ROUTE = 'job';

/** The outcome of a job, with all its turns. */
export interface FinishedWork {
  /** JSON */
  readonly result: string;
  readonly audioS: number;
  /** Scored ones. */
  readonly windows?: number;
  /** Of the file. */
  readonly bytes?: number;
}

const MOVED_AT_ONCE = 100;

/** Between two tries to store a failure. */
const FAILURE_FILE_PAUSE_MS = 60_000;

export interface JobWorkTableOptions {
  /** Home of files that the workers can read. */
  readonly home?: string | undefined;
  /** For priorities. */
  readonly clockMs?: (() => number) | undefined;
  /** For tests. */
  readonly retryDelayMs?: number | undefined;
}

/**
 * Gives jobs to workers and takes results, on any number of hosts. Each job has one holder at a time; what an earlier
 * one hands in later is refused, so no step and no result is saved twice.
 */
export class JobWorkTable {
  readonly #database: Database;
  readonly #leaseMs: number;
  readonly #overdue: OverdueLeases;
  readonly #home: string | undefined;
  readonly #clockMs: () => number;
  readonly #retryDelayMs: number;

  constructor(
    database: Database,
    leaseMs = LEASE_MS,
    { home, clockMs = Date.now, retryDelayMs = RETRY_DELAY_MS }: JobWorkTableOptions = {},
  ) {
    this.#database = database;
    this.#leaseMs = leaseMs;
    this.#overdue = new OverdueLeases(database, leaseMs);
    this.#home = home;
    this.#clockMs = clockMs;
    this.#retryDelayMs = retryDelayMs;
  }

  /** The next job that is due, or undefined. @param except accounts whose jobs stay */
  async take(except: readonly string[] = []): Promise<Work | undefined> {
    const due = this.#due();
    if (!(await onlyOthers(this.#database, 'jobs', due, except))) return undefined;
    const n = due.values.length;
    return this.#database.transaction(async (transaction) => {
      const [row] = await transaction.query<WorkRow>(
        `UPDATE jobs SET state = 'running', holder = $${n + 1}, leased_until_ms = ${this.#now} + $${n + 2}, ` +
          `started_at_ms = COALESCE(started_at_ms, $${n + 3}), attempts = attempts + 1, tries = tries + 1 ` +
          `WHERE id = (SELECT id FROM jobs ${due.where} ${queueOrder} LIMIT 1${skipLocked[transaction.dialect]}) ` +
          `RETURNING ${jobColumns}, ${workColumns}`,
        [...due.values, randomUUID(), this.#leaseMs, Date.now()],
      );
      if (row === undefined) return undefined;
      await transaction.announce(CHANGE_TOPIC);
      return workOf(row);
    });
  }

  /** Whether `take` would find one. */
  waits(except: readonly string[]): Promise<boolean> {
    return hasRowOfOthers(this.#database, 'jobs', this.#due(), except);
  }

  /** Call it several times per lease. @throws WorkLost if the job was cancelled or went to another worker */
  async renew(work: Work, fileProgress: number): Promise<void> {
    const renewed = await this.#database.queryPromptly(
      `UPDATE jobs SET leased_until_ms = ${this.#now} + $3, file_progress = $4 WHERE id = $1 AND holder = $2 RETURNING id`,
      [work.job.id, work.holder, this.#leaseMs, fileProgress],
      RENEWAL_TIMEOUT_MS,
    );
    if (renewed.length === 0) throw lost(work);
  }

  /**
   * Saves results together with the cursor from which work goes on after them.
   * @param step its number, from 0
   * @throws WorkLost
   */
  saveStep(
    work: Work,
    step: number,
    { results, cursor, audioS }: { results: string; cursor: string; audioS: number },
  ): Promise<void> {
    const saved = { cursor, audio_s: audioS, saved_steps: step + 1 };
    return this.#changeAnd(work, saved, async (transaction) => {
      await transaction.execute('INSERT INTO job_steps (job_id, step, results) VALUES ($1, $2, $3)', [
        work.job.id,
        step,
        results,
      ]);
      await transaction.announce(CHANGE_TOPIC);
    });
  }

  /** The results of the saved steps, in their order. */
  async *savedResults(jobId: string): AsyncGenerator<string, void, void> {
    for (let step = 0; ; step++) {
      const [row] = await this.#database.query<{ results: string }>(
        'SELECT results FROM job_steps WHERE job_id = $1 AND step = $2',
        [jobId, step],
      );
      if (row === undefined) return;
      yield row.results;
    }
  }

  /** Drops the saved steps: the recording or the model is not the one they came from. @throws WorkLost */
  startAgain(work: Work): Promise<void> {
    return this.#changeAnd(work, { cursor: null, audio_s: 0, saved_steps: 0 }, async (transaction) => {
      await transaction.execute('DELETE FROM job_steps WHERE job_id = $1', [work.job.id]);
    });
  }

  /** Its usage is counted with it, once. @throws WorkLost */
  succeed(work: Work, { result, audioS, windows = 0, bytes = 0 }: FinishedWork): Promise<void> {
    const done = { state: 'succeeded', result, audio_s: audioS, file_progress: 1 };
    return this.#changeAnd(
      work,
      { ...done, failure_code: null, failure_message: null },
      async (transaction) => {
        await this.#end(transaction, work.job, { errors: 0, audioS, windows, bytes });
      },
    );
  }

  /**
   * @param canRetry whether another try may help
   * @returns whether there will be one
   * @throws WorkLost
   */
  fail(work: Work, { code, message }: JobFailure, canRetry: boolean): Promise<boolean> {
    const isRetried = canRetry && work.tries < MAX_TRIES;
    return this.#changeAnd(work, { failure_code: code, failure_message: message }, async (transaction) => {
      if (isRetried) {
        await this.#requeue(transaction, work, pauseAfterMs(work.tries, this.#retryDelayMs));
      } else {
        // A newer recording of its name may have changed it meanwhile.
        const [row] = await transaction.query<{ source: string }>(
          "UPDATE jobs SET state = 'failed' WHERE id = $1 RETURNING source",
          [work.job.id],
        );
        const job = { ...work.job, ...row };
        if (resultObjectOf(job) !== undefined) {
          const sql = `UPDATE jobs SET failure_file_due_ms = ${this.#now} WHERE id = $1`;
          await transaction.execute(sql, [job.id]);
        }
        const usage = { errors: 1, audioS: 0, windows: 0, bytes: 0 };
        await this.#end(transaction, job, usage, sourceForRetry(job));
      }
      return isRetried;
    });
  }

  /** Of a worker that stops or makes room for others: somebody goes on with it. @throws WorkLost */
  giveBack(work: Work): Promise<void> {
    // Its turn does not count.
    return this.#changeAnd(work, { attempts: work.job.attempts - 1, tries: work.tries - 1 }, (transaction) =>
      this.#requeue(transaction, work, 0),
    );
  }

  /** Takes jobs from workers that died, and looks after the order of the others. Any worker calls it every few seconds. */
  async reap(): Promise<Reaped> {
    const dead = await this.#overdue.dead<WorkRow>(
      `SELECT ${jobColumns}, ${workColumns} FROM jobs WHERE state = 'running' AND task <> 'batch'`,
    );
    await this.#moveUp();
    return endTries(dead.map(workOf), (work) => this.fail(work, workerDied, true));
  }

  /** A failed job whose client waits for the file of its result, or undefined. Later calls get the same one after a pause only. */
  async takeFailureFile(): Promise<Job | undefined> {
    const due = new Conditions('failure_file_due_ms IS NOT NULL');
    const now = this.#now;
    // A later time than any pause lasts comes from before the clock was set back.
    due.add(
      (n) => `(failure_file_due_ms <= (SELECT ${now}) OR failure_file_due_ms > (SELECT ${now}) + $${n})`,
      FAILURE_FILE_PAUSE_MS,
    );
    this.#addHome(due);
    const [row] = await this.#database.query(
      `UPDATE jobs SET failure_file_due_ms = ${now} + $1 WHERE id = ` +
        `(SELECT id FROM jobs ${due.where} ORDER BY failure_file_due_ms LIMIT 1${skipLocked[this.#database.dialect]}) RETURNING ${jobColumns}`,
      due.values,
    );
    return row && jobOf(row);
  }

  /** The file is there, or given up. A later failure of the job has one of its own. */
  async endFailureFile({ id, finishedAtMs = 0 }: Job): Promise<void> {
    await this.#database.execute(
      'UPDATE jobs SET failure_file_due_ms = NULL WHERE id = $1 AND finished_at_ms = $2',
      [id, finishedAtMs],
    );
  }

  /** Calls `onWork` soon after a job was added; may come too often. @returns ends it */
  follow(onWork: () => void): () => void {
    return this.#database.follow(WORK_TOPIC, onWork);
  }

  /** Gives jobs that were made before the clock was set back a place as if they were made now. */
  async #moveUp(): Promise<void> {
    const nowS = this.#clockMs() / 1000;
    const isLate = `${isQueued} AND priority < $1`;
    await this.#database.execute(
      `UPDATE jobs SET priority = CASE WHEN batch_id IS NULL THEN CAST($2 AS BIGINT) ELSE CAST($3 AS BIGINT) END WHERE ${isLate} AND id IN ` +
        `(SELECT id FROM jobs WHERE ${isLate} ORDER BY priority LIMIT ${MOVED_AT_ONCE}${skipLocked[this.#database.dialect]})`,
      [lowestPriority(nowS), jobPriority(nowS, 0), linePriority(nowS, 0)],
    );
  }

  /** Conditions of jobs that workers here can take. */
  #due(): Conditions {
    const due = new Conditions(isQueued);
    // PostgreSQL reads a clock in brackets once, not for each row. What is due later than any pause lasts was put there before it
    // was set back.
    due.add(
      (n) => `(due_at_ms <= (SELECT ${this.#now}) OR due_at_ms > (SELECT ${this.#now}) + $${n})`,
      pauseAfterMs(MAX_TRIES, this.#retryDelayMs),
    );
    this.#addHome(due);
    return due;
  }

  #addHome(due: Conditions): void {
    // Of a single host, everything is its own.
    if (this.#database.dialect === 'postgres') {
      due.add((n) => `(home IS NULL OR home = $${n})`, this.#home ?? null);
    }
  }

  get #now(): string {
    return nowMs[this.#database.dialect];
  }

  /** All of it, or nothing if the worker no longer holds the job. @throws WorkLost */
  #changeAnd<Result>(
    work: Work,
    columns: Readonly<Record<string, Value>>,
    more: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    return this.#database.transaction(async (transaction) => {
      const sets = Object.keys(columns).map((column, i) => `${column} = $${i + 3}`);
      const values = [work.job.id, work.holder, ...Object.values(columns)];
      const still = work.isOverdue ? ` AND ${this.#overdue.isOver(values)}` : '';
      const changed = await transaction.execute(
        `UPDATE jobs SET ${sets.join(', ')} WHERE id = $1 AND holder = $2 AND state = 'running'${still}`,
        values,
      );
      if (changed === 0) throw lost(work);
      return more(transaction);
    });
  }

  async #requeue(transaction: Transaction, { job }: Work, pauseMs: number): Promise<void> {
    await transaction.execute(
      `UPDATE jobs SET state = 'queued', holder = NULL, due_at_ms = ${this.#now} + $2 WHERE id = $1`,
      [job.id, pauseMs],
    );
    await transaction.announce(WORK_TOPIC);
    await transaction.announce(CHANGE_TOPIC);
  }

  /** Erases secrets, and what is of no use now. */
  async #end(
    transaction: Transaction,
    job: Job,
    usage: Pick<UsageRow, 'errors' | 'audioS' | 'windows' | 'bytes'>,
    source = NO_SOURCE,
  ): Promise<void> {
    const { id, keyId, account } = job;
    await transaction.execute(
      'UPDATE jobs SET holder = NULL, cursor = NULL, source = $3, finished_at_ms = $2 WHERE id = $1',
      [id, Date.now(), source],
    );
    await transaction.execute('DELETE FROM job_steps WHERE job_id = $1', [id]);
    await addDelivery(transaction, job);
    // Last: others who count for the same key wait until this is committed.
    await addUsage(transaction, dayOf(new Date()), [
      { keyId, account, route: JOB_ROUTE, requests: 1, ...usage },
    ]);
    await transaction.announce(CHANGE_TOPIC);
  }
}

interface WorkRow extends Row {
  readonly holder: string;
  readonly cursor: string | null;
  readonly saved_steps: number;
  readonly tries: number;
}

const workColumns = 'holder, cursor, saved_steps, tries';

const workOf = (row: WorkRow): Work => ({
  job: jobOf(row),
  holder: row.holder,
  cursor: row.cursor ?? undefined,
  savedSteps: row.saved_steps,
  tries: row.tries,
});

const lost = ({ job }: Work): WorkLost => new WorkLost(`The job ${job.id} is in other hands.`);
