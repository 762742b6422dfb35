// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import { placesFor } from '../../state/database/conditions.js';
import type { Database, Row, Transaction, Value } from '../../state/database/database.js';
import { followAll } from '../../state/database/follow-all.js';
import { nowMs } from '../../state/database/now-ms.js';
import { addDelivery } from './add-delivery.js';
import {
  type BatchCounts,
  countLines,
  endedLines,
  endLines,
  type LineEnd,
  type NewLine,
} from './batch-lines.js';
import { removeInPieces } from './finished-jobs.js';
import { type Job, type JobFailure, WorkLost, workerDied } from './job.js';
import { linePriority } from './job-priority.js';
import { jobColumns, jobOf } from './job-rows.js';
import { BATCH_TOPIC, CHANGE_TOPIC, WORK_TOPIC } from './job-table.js';
import { type BatchSource, batchSource } from './job-text.js';
import {
  endTries,
  LEASE_MS,
  MAX_TRIES,
  OverdueLeases,
  pauseAfterMs,
  RENEWAL_TIMEOUT_MS,
  type Reaped,
} from './leases.js';

/** A batch in the hands of a worker. */
export interface BatchWork {
  readonly job: Job;
  /** Changes are refused once somebody else holds the batch. */
  readonly holder: string;
  /** Lines of the manifest that are in the table. */
  readonly linesRead: number;
  /** Starts that count toward the limit, this one included. */
  readonly tries: number;
  /** Its worker seems dead: changes are refused if the lease was renewed meanwhile. */
  readonly isOverdue?: boolean;
}

/** Lines of one batch in the queue: enough for all workers, few for everybody else. */
const MAX_OPEN_LINES = 100;
const ROWS_PER_STATEMENT = 50;
/** Each may have megabytes, of a recording of many hours. */
const ENDS_PER_PAGE = 20;

/** Gives batches to their workers, on any number of hosts. Each batch has one worker at a time. */
export class BatchWorkTable {
  readonly #leaseMs: number;
  readonly #overdue: OverdueLeases;
  readonly #home: string | undefined;
  readonly #database: Database;

  /** @param home whose stored files the workers can read and write */
  constructor(database: Database, leaseMs = LEASE_MS, home?: string) {
    this.#leaseMs = leaseMs;
    this.#overdue = new OverdueLeases(database, leaseMs);
    this.#home = home;
    this.#database = database;
  }

  /**
   * Of the batches in the queue, the one that waits longest, new ones first; or undefined.
   * @param except accounts whose batches stay
   */
  async take(except: readonly string[] = []): Promise<BatchWork | undefined> {
    const holder = randomUUID();
    const { isFree, values } = this.#free(except);
    const [row] = await this.#database.query<WorkRow>(
      `UPDATE jobs SET state = 'running', holder = $3, leased_until_ms = ${this.#now} + $4, attempts = attempts + 1, tries = tries + 1, ` +
        `started_at_ms = COALESCE(started_at_ms, $5) WHERE id = (SELECT id FROM jobs WHERE ${isFree} ` +
        // Another host may have taken it in the meantime.
        `ORDER BY COALESCE(leased_until_ms, 0), created_at_ms LIMIT 1) AND ${isFree} RETURNING ${workColumns}`,
      [...values.slice(0, 2), holder, this.#leaseMs, Date.now(), ...values.slice(2)],
    );
    return row && workOf(row);
  }

  /** Whether `take` would find one. */
  async waits(except: readonly string[]): Promise<boolean> {
    const { isFree, values } = this.#free(except, 3);
    const rows = await this.#database.query(`SELECT id FROM jobs WHERE ${isFree} LIMIT 1`, values);
    return rows.length > 0;
  }

  /** Takes batches from workers that died. Any worker calls it every few seconds. */
  async reap(): Promise<Reaped> {
    const dead = await this.#overdue.dead<WorkRow>(
      `SELECT ${workColumns} FROM jobs WHERE task = 'batch' AND state = 'running'`,
    );
    return endTries(dead.map(workOf), (work) => this.fail(work, workerDied, true));
  }

  /** Removes the lines of batches that are over. Any worker calls it every few seconds. */
  async tidy(): Promise<void> {
    const over = await this.#database.query<{ id: string; result: string | null }>(ofEndedBatches);
    for (const { id, result } of over) {
      // Cancelled by an earlier version, whose counts were those of its lines.
      if (result === null) await this.#database.transaction((transaction) => endLines(transaction, id));
      await removeInPieces(this.#database, 'batch_id = $1', [id]);
    }
  }

  /** The manifest that came with the request. */
  async manifestOf({ job }: BatchWork): Promise<string | undefined> {
    const [row] = await this.#database.query<{ manifest: string }>(
      'SELECT manifest FROM batch_manifests WHERE job_id = $1',
      [job.id],
    );
    return row?.manifest;
  }

  /** Call it several times per lease. @throws WorkLost */
  async renew({ job, holder }: BatchWork): Promise<void> {
    const renewed = await this.#database.queryPromptly(
      `UPDATE jobs SET leased_until_ms = ${this.#now} + $3 WHERE id = $1 AND holder = $2 RETURNING id`,
      [job.id, holder, this.#leaseMs],
      RENEWAL_TIMEOUT_MS,
    );
    if (renewed.length === 0) throw lost(job);
  }

  /** All lines are in the table. The manifest's source, which may be a secret, is needed no longer. @throws WorkLost */
  endReading(work: BatchWork): Promise<void> {
    const { manifest: _, ...source } = batchSource(work.job);
    const isRead: BatchSource = { ...source, isRead: true };
    return this.#change(work, { source: JSON.stringify(isRead) }, async (transaction) => {
      await transaction.execute('DELETE FROM batch_manifests WHERE job_id = $1', [work.job.id]);
    });
  }

  /**
   * @param first number of the first of these lines, from 1
   * @param identity of the file that they come from
   * @throws WorkLost
   */
  addLines(work: BatchWork, first: number, lines: readonly NewLine[], identity?: string): Promise<void> {
    const { id, account, keyId, traceparent = null } = work.job;
    const atMs = Date.now();
    const rows = lines.map(({ label, work: line }, i): Value[] => {
      const isBad = 'failure' in line;
      const { code = null, message = null } = isBad ? line.failure : {};
      const { source = '{}', home = null, parameters = '{}' } = isBad ? {} : line;
      const state = isBad ? ['failed', atMs, code, message] : ['waiting', null, null, null];
      return [
        randomUUID(),
        account,
        keyId,
        source,
        home,
        parameters,
        0,
        atMs,
        id,
        first + i,
        label,
        traceparent,
        ...state,
      ];
    });
    const { manifest, ...source } = batchSource(work.job);
    const read = manifest && { source: JSON.stringify({ ...source, manifest: { ...manifest, identity } }) };
    return this.#change(work, { lines_read: first - 1 + lines.length, ...read }, async (transaction) => {
      for (let i = 0; i < rows.length; i += ROWS_PER_STATEMENT) {
        await transaction.execute(...insertOf(rows.slice(i, i + ROWS_PER_STATEMENT)));
      }
    });
  }

  /** Puts waiting lines into the queue, as far as it has room for them. @throws WorkLost */
  feed(work: BatchWork): Promise<BatchCounts> {
    return this.#change(work, {}, async (transaction) => {
      const counts = await countLines(transaction, work.job.id);
      const { lines, succeeded, failed } = counts;
      await transaction.execute('UPDATE jobs SET file_progress = $2 WHERE id = $1', [
        work.job.id,
        lines === 0 ? 0 : (succeeded + failed) / lines,
      ]);
      if (counts.waiting === 0 || counts.open > MAX_OPEN_LINES / 2) return counts;
      // Of two accounts with batches, neither goes before the other's lines by being first.
      const [others] = await transaction.query<{ lines: number }>(
        "SELECT COUNT(*) AS lines FROM jobs WHERE account = $1 AND batch_id IS NOT NULL AND state IN ('queued', 'running')",
        [work.job.account],
      );
      const next = await transaction.query<{ id: string }>(
        `SELECT id FROM jobs WHERE batch_id = $1 AND state = 'waiting' ORDER BY line LIMIT ${MAX_OPEN_LINES - counts.open}`,
        [work.job.id],
      );
      for (const [i, { id }] of next.entries()) {
        const priority = linePriority(Date.now() / 1000, (others?.lines ?? 0) + i);
        await transaction.execute("UPDATE jobs SET state = 'queued', priority = $2 WHERE id = $1", [
          id,
          priority,
        ]);
      }
      await transaction.announce(WORK_TOPIC);
      return counts;
    });
  }

  /** In the order of their lines, page by page. */
  async *ends({ job }: BatchWork): AsyncGenerator<LineEnd, void, void> {
    for (let line = 0; ; ) {
      const page = await endedLines(this.#database, job.id, line, ENDS_PER_PAGE);
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      line = last.line;
    }
  }

  /** @param result JSON @throws WorkLost */
  async succeed(work: BatchWork, result: string): Promise<void> {
    const done = { state: 'succeeded', result, file_progress: 1, failure_code: null, failure_message: null };
    await this.#change(work, done, async (transaction) => {
      await transaction.execute(
        'UPDATE jobs SET audio_s = (SELECT COALESCE(SUM(audio_s), 0) FROM jobs WHERE batch_id = $1) WHERE id = $1',
        [work.job.id],
      );
      await this.#end(transaction, work.job);
    });
    // The file has them. `tidy` removes what a crash leaves here.
    await removeInPieces(this.#database, 'batch_id = $1', [work.job.id]);
  }

  /** @returns whether it will be tried again @throws WorkLost */
  fail(work: BatchWork, { code, message }: JobFailure, canRetry: boolean): Promise<boolean> {
    const isRetried = canRetry && work.tries < MAX_TRIES;
    const failure = { failure_code: code, failure_message: message };
    return this.#change(work, failure, async (transaction) => {
      if (isRetried) {
        await this.#release(transaction, work.job.id, pauseAfterMs(work.tries));
      } else {
        await endLines(transaction, work.job.id);
        await transaction.execute("UPDATE jobs SET state = 'failed' WHERE id = $1", [work.job.id]);
        await this.#end(transaction, work.job);
      }
      return isRetried;
    });
  }

  /** Of a worker that stops or makes room for others; that is no attempt. @throws WorkLost */
  giveBack(work: BatchWork): Promise<void> {
    return this.#change(work, { attempts: work.job.attempts - 1, tries: work.tries - 1 }, (transaction) =>
      this.#release(transaction, work.job.id, 0),
    );
  }

  /** Calls `onChange` when a batch may need a worker; may come too often. @returns ends it */
  follow(onChange: () => void): () => void {
    return followAll(this.#database, [BATCH_TOPIC, CHANGE_TOPIC], onChange);
  }

  get #now(): string {
    return nowMs[this.#database.dialect];
  }

  /** Conditions of free batches; the first two values are the same for all accounts. */
  #free(except: readonly string[], first = 6): { isFree: string; values: Value[] } {
    const isOther = except.length === 0 ? '' : ` AND account NOT IN (${placesFor(except, first)})`;
    return {
      isFree:
        // The index is of both states. A longer pause than there are comes from before the clock was set back.
        "task = 'batch' AND state IN ('queued', 'running') AND state = 'queued' AND " +
        `(leased_until_ms IS NULL OR leased_until_ms <= ${this.#now} OR leased_until_ms > ${this.#now} + $1) AND ` +
        // SQLite has a single host.
        `($2 = '' OR home IS NULL OR home = $2)${isOther}`,
      values: [
        pauseAfterMs(MAX_TRIES),
        this.#database.dialect === 'sqlite' ? '' : (this.#home ?? 'none'),
        ...except,
      ],
    };
  }

  /** Also a sign of life. */
  #change<Result>(
    { job, holder, isOverdue }: BatchWork,
    columns: Readonly<Record<string, Value>>,
    more: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    return this.#database.transaction(async (transaction) => {
      const sets = [
        `leased_until_ms = ${this.#now} + $3`,
        ...Object.keys(columns).map((name, i) => `${name} = $${i + 4}`),
      ];
      const values = [job.id, holder, this.#leaseMs, ...Object.values(columns)];
      const still = isOverdue ? ` AND ${this.#overdue.isOver(values)}` : '';
      const held = await transaction.execute(
        `UPDATE jobs SET ${sets.join(', ')} WHERE id = $1 AND holder = $2 AND state = 'running'${still}`,
        values,
      );
      if (held === 0) throw lost(job);
      return more(transaction);
    });
  }

  async #release(transaction: Transaction, jobId: string, pauseMs: number): Promise<void> {
    await transaction.execute(
      `UPDATE jobs SET state = 'queued', holder = NULL, leased_until_ms = ${this.#now} + $2 WHERE id = $1`,
      [jobId, pauseMs],
    );
    await transaction.announce(BATCH_TOPIC);
  }

  async #end(transaction: Transaction, job: Job): Promise<void> {
    await transaction.execute(
      "UPDATE jobs SET holder = NULL, leased_until_ms = NULL, source = '{}', finished_at_ms = $2 WHERE id = $1",
      [job.id, Date.now()],
    );
    await addDelivery(transaction, job);
    await transaction.announce(CHANGE_TOPIC);
  }
}

function insertOf(rows: readonly Value[][]): [sql: string, values: Value[]] {
  const columns =
    'id, account, key_id, source, home, parameters, priority, created_at_ms, batch_id, line, label, traceparent, state, ' +
    'finished_at_ms, failure_code, failure_message';
  let n = 0;
  const places = rows.map((row) => `('predict', '', ${row.map(() => `$${++n}`).join(', ')})`);
  return [`INSERT INTO jobs (task, request_hash, ${columns}) VALUES ${places.join(', ')}`, rows.flat()];
}

const lost = ({ id }: Job): WorkLost => new WorkLost(`The batch ${id} is in other hands.`);

/** Batches that are over and have lines: one look into the index of lines for each batch that has some. */
const ofEndedBatches = `
  WITH RECURSIVE batches (id) AS (
    SELECT CAST('' AS TEXT)
    UNION ALL
    SELECT (SELECT batch_id FROM jobs WHERE batch_id > batches.id ORDER BY batch_id LIMIT 1) FROM batches WHERE id IS NOT NULL
  )
  SELECT jobs.id, result FROM batches JOIN jobs ON jobs.id = batches.id WHERE state NOT IN ('queued', 'running')`;

interface WorkRow extends Row {
  readonly holder: string;
  readonly lines_read: number;
  readonly tries: number;
}

const workColumns = `${jobColumns}, holder, lines_read, tries`;

const workOf = (row: WorkRow): BatchWork => ({
  job: jobOf(row),
  holder: row.holder,
  linesRead: row.lines_read,
  tries: row.tries,
});
