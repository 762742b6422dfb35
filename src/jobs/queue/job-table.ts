// SPDX-License-Identifier: Apache-2.0
import { createHash, randomUUID } from 'node:crypto';
import { Conditions, placesFor } from '../../state/database/conditions.js';
import type { Database, Transaction } from '../../state/database/database.js';
import { followAll } from '../../state/database/follow-all.js';
import { cursorAt, placeOf } from '../../state/database/page-cursor.js';
import { addDelivery } from './add-delivery.js';
import { type BatchCounts, countLines, endLines } from './batch-lines.js';
import { DeliveryTable } from './delivery-table.js';
import { FinishedJobs } from './finished-jobs.js';
import {
  IdempotencyConflict,
  type Job,
  type JobState,
  type JobTask,
  type ListedJob,
  type NewJob,
  NotRetryable,
  TooManyJobs,
} from './job.js';
import type { UnfinishedJobs } from './job-metrics.js';
import { isQueued, jobPriority, queueOrder } from './job-priority.js';
import { jobColumns, jobOf, listedColumns } from './job-rows.js';
import { canRetry, jobSource, resultObjectOf } from './job-text.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** Announced when a job may be taken. */
export const WORK_TOPIC = 'jobs';
/** Announced when a job has changed. */
export const CHANGE_TOPIC = 'job-changes';

/** Announced when a batch was added, or given back. */
export const BATCH_TOPIC = 'batches';

const COUNT_TIMEOUT_MS = 1000;
const IDS_PER_STATEMENT = 500;
/** Counting a million jobs takes a tenth of a second. */
const JOBS_PER_COUNT = 1000;

export interface JobFilter {
  readonly state?: JobState | undefined;
  readonly task?: JobTask | undefined;
  /** Of the key that asked for it. */
  readonly keyId?: string | undefined;
}

export interface JobPage {
  /** The newest first. */
  readonly jobs: readonly ListedJob[];
  /** For the next page; undefined on the last. */
  readonly cursor: string | undefined;
}

export interface JobLimits {
  /** Of one account; 0 means no limit. */
  readonly maxUnfinished: number;
  /** Of one account; 0 or undefined means no limit. */
  readonly maxBatches?: number;
  /** Finished ones of one account; 0 or undefined means no limit. */
  readonly maxKept?: number;
}

/** The jobs of all accounts, as their clients see them. Each account sees its own only. */
export class JobTable {
  readonly #database: Database;
  readonly #limits: JobLimits;
  readonly #clockMs: () => number;
  readonly #finished: FinishedJobs;
  /** Jobs of each account that were made here since its jobs were counted. */
  readonly #uncounted = new Map<string, number>();
  readonly #placesOf = gathered((ids) => this.#rank(ids));
  readonly #countsOf = gathered((ids) => this.#count(ids));
  /** Tell clients of the ends of their jobs. */
  readonly deliveries: DeliveryTable;
  readonly webhookSecrets: WebhookSecrets;

  /** @param clockMs for priorities */
  constructor(database: Database, limits: JobLimits, clockMs: () => number = Date.now) {
    this.#database = database;
    this.#limits = limits;
    this.#clockMs = clockMs;
    this.#finished = new FinishedJobs(database);
    this.deliveries = new DeliveryTable(database);
    this.webhookSecrets = new WebhookSecrets(database);
  }

  /**
   * Adds a job to the queue, unless the account has added the same one with the same key before.
   * @throws IdempotencyConflict, TooManyJobs, DatabaseError; adding again with the same key is safe after each
   */
  async create(job: NewJob): Promise<{ readonly job: Job; readonly isNew: boolean }> {
    await this.#removeSurplus(job.account);
    return this.#database.transaction(
      async (transaction) => {
        const earlier = await this.#earlier(transaction, job);
        if (earlier !== undefined) return { job: earlier, isNew: false };
        const unfinished = await this.#countBelowLimit(transaction, job.account);
        if (job.task === 'batch') return { job: await this.#addBatch(transaction, job), isNew: true };
        await this.#replaceEarlier(transaction, job);
        // Jobs of accounts with few others go before those of accounts with many.
        const priority = jobPriority(this.#clockMs() / 1000, unfinished);
        const created = await this.#insert(transaction, job, priority);
        await transaction.announce(WORK_TOPIC);
        return { job: created, isNew: true };
      },
      // Of two requests with the same key, the later one finds the job of the earlier.
      { lock: `jobs of ${job.account}` },
    );
  }

  /**
   * The job that `create` would find instead of adding one.
   * @throws IdempotencyConflict, DatabaseError
   */
  async earlier(job: NewJob): Promise<Job | undefined> {
    return this.#earlier(this.#database, job);
  }

  async get(account: string, id: string): Promise<Job | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${jobColumns} FROM jobs WHERE account = $1 AND id = $2 AND batch_id IS NULL`,
      [account, id],
    );
    return row && jobOf(row);
  }

  /** Counts the lines of a batch by state. */
  async countLines(batchId: string): Promise<BatchCounts> {
    const counts = await this.#countsOf([batchId]);
    return counts.get(batchId) as BatchCounts;
  }

  /**
   * @param account undefined for those of all accounts
   * @throws RangeError if the cursor does not come from an earlier page
   */
  async list(
    account: string | undefined,
    { state, task, keyId }: JobFilter,
    limit: number,
    cursor?: string,
  ): Promise<JobPage> {
    const conditions = new Conditions('batch_id IS NULL');
    conditions.addEqual({ account, state, task, key_id: keyId });
    if (cursor !== undefined) {
      conditions.add((n) => `(created_at_ms, id) < ($${n}, $${n + 1})`, ...placeOf(cursor));
    }
    const rows = await this.#database.query(
      `SELECT ${listedColumns} FROM jobs ${conditions.where} ORDER BY created_at_ms DESC, id DESC LIMIT ${limit + 1}`,
      conditions.values,
    );
    const jobs = rows.slice(0, limit).map(jobOf);
    const last = jobs.at(-1);
    return { jobs, cursor: rows.length > limit && last !== undefined ? cursorAt(last) : undefined };
  }

  /** Jobs with these ids, of any account. */
  async find(ids: readonly string[]): Promise<ListedJob[]> {
    const found: ListedJob[] = [];
    for (let at = 0; at < ids.length; at += IDS_PER_STATEMENT) {
      const part = ids.slice(at, at + IDS_PER_STATEMENT);
      const rows = await this.#database.query(
        `SELECT ${listedColumns} FROM jobs WHERE id IN (${placesFor(part)})`,
        part,
      );
      found.push(...rows.map(jobOf));
    }
    return found;
  }

  /** By id, the number of jobs of all accounts that may go before each queued one of these: 0 if it is next, and for a batch. */
  async positions(jobs: readonly ListedJob[]): Promise<ReadonlyMap<string, number>> {
    const queued = jobs.filter(({ state }) => state === 'queued');
    const found = new Map(queued.filter(({ task }) => task === 'batch').map(({ id }) => [id, 0]));
    const ids = queued.filter(({ task }) => task !== 'batch').map(({ id }) => id);
    if (ids.length === 0) return found;
    const places = await this.#placesOf(ids);
    for (const id of ids) {
      const before = places.get(id);
      if (before !== undefined) found.set(id, before);
    }
    return found;
  }

  async #rank(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const places = new Map<string, number>();
    for (let at = 0; at < ids.length; at += IDS_PER_STATEMENT) {
      const part = ids.slice(at, at + IDS_PER_STATEMENT);
      const rows = await this.#database.query<{ id: string; before: number }>(
        `${rankedQueue} WHERE id IN (${placesFor(part)})`,
        part,
      );
      for (const { id, before } of rows) places.set(id, before);
    }
    return places;
  }

  async #count(batchIds: readonly string[]): Promise<ReadonlyMap<string, BatchCounts>> {
    const counts = new Map<string, BatchCounts>();
    for (const id of batchIds) counts.set(id, await countLines(this.#database, id));
    return counts;
  }

  /** Of all accounts; of batches, the lines in the queue. @throws DatabaseError, within seconds */
  async countUnfinished(): Promise<UnfinishedJobs> {
    const rows = await this.#database.queryPromptly<{
      state: 'queued' | 'running';
      jobs: number;
      oldest: number | null;
    }>(
      // Only ones that nobody has begun: others may wait for their next try.
      'SELECT state, COUNT(*) AS jobs, MIN(CASE WHEN attempts = 0 THEN created_at_ms END) AS oldest FROM jobs ' +
        "WHERE state IN ('queued', 'running') AND task <> 'batch' GROUP BY state",
      [],
      COUNT_TIMEOUT_MS,
    );
    const counts = { queued: 0, running: 0 };
    let oldestAtMs: number | undefined;
    for (const { state, jobs, oldest } of rows) {
      counts[state] = jobs;
      if (state === 'queued') oldestAtMs = oldest ?? undefined;
    }
    return { ...counts, oldestAtMs };
  }

  /** Any account's. */
  async findOne(id: string): Promise<Job | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${jobColumns} FROM jobs WHERE id = $1 AND batch_id IS NULL`,
      [id],
    );
    return row && jobOf(row);
  }

  /**
   * Begins anew with a job that has failed, under its old id. One that is queued or running stays as it is.
   * @param before runs before the job is in the queue; if it fails, the job is not
   * @throws NotRetryable, TooManyJobs, DatabaseError, or what `before` throws
   */
  retry({ account, id }: Pick<Job, 'account' | 'id'>, before = nothing): Promise<Job | undefined> {
    return this.#database.transaction(
      async (transaction) => {
        const [row] = await transaction.query(`SELECT ${jobColumns} FROM jobs WHERE id = $1`, [id]);
        const job = row && jobOf(row);
        if (job === undefined || unfinishedStates.has(job.state)) return job;
        refuseRetry(job);
        const unfinished = await this.#countBelowLimit(transaction, account);
        const priority = jobPriority(this.#clockMs() / 1000, unfinished);
        const [revived] = await transaction.query(
          "UPDATE jobs SET state = 'queued', priority = $2, tries = 0, due_at_ms = 0, finished_at_ms = NULL, cursor = NULL, saved_steps = 0, " +
            `failure_file_due_ms = NULL, audio_s = 0, file_progress = 0 WHERE id = $1 AND state = 'failed' RETURNING ${jobColumns}`,
          [id, priority],
        );
        // Its retention time was over at this moment.
        if (revived === undefined) return undefined;
        // The next end is told under another id, once.
        await transaction.execute('DELETE FROM webhook_deliveries WHERE job_id = $1', [id]);
        await before();
        await transaction.announce(WORK_TOPIC);
        await transaction.announce(CHANGE_TOPIC);
        return jobOf(revived);
      },
      { lock: `jobs of ${account}` },
    );
  }

  /**
   * Its worker stops within seconds. A job that is over stays as it is.
   * @param before runs before the job is cancelled; if it fails, the job is not
   * @returns undefined if the account has no such job
   */
  cancel(account: string, id: string, before = nothing): Promise<Job | undefined> {
    return this.#database.transaction(async (transaction) => {
      const cancelled = await transaction.execute(
        "UPDATE jobs SET state = 'cancelled', holder = NULL, cursor = NULL, source = '{}', finished_at_ms = $3 " +
          "WHERE account = $1 AND id = $2 AND batch_id IS NULL AND state IN ('queued', 'running')",
        [account, id, Date.now()],
      );
      const [row] = await transaction.query(
        `SELECT ${jobColumns} FROM jobs WHERE account = $1 AND id = $2 AND batch_id IS NULL`,
        [account, id],
      );
      const job = row && jobOf(row);
      if (cancelled === 0 || job === undefined) return job;
      await transaction.execute('DELETE FROM job_steps WHERE job_id = $1', [id]);
      const result = job.task === 'batch' ? await endLines(transaction, id) : undefined;
      await addDelivery(transaction, job);
      await before();
      await transaction.announce(CHANGE_TOPIC);
      return { ...job, result };
    });
  }

  /** Calls `onChange` soon after some job has changed; may come too often. @returns ends it */
  follow(onChange: () => void): () => void {
    return this.#database.follow(CHANGE_TOPIC, onChange);
  }

  /** The same, and soon after there is a new one. */
  followList(onChange: () => void): () => void {
    return followAll(this.#database, [CHANGE_TOPIC, WORK_TOPIC, BATCH_TOPIC], onChange);
  }

  /** Jobs that are made and cancelled over and over would fill the database until their retention time is over. */
  async #removeSurplus(account: string): Promise<void> {
    const { maxKept = 0 } = this.#limits;
    if (maxKept === 0) return;
    const uncounted = this.#uncounted.get(account) ?? 0;
    this.#uncounted.set(account, (uncounted + 1) % JOBS_PER_COUNT);
    if (uncounted === 0) await this.#finished.keepNewest(account, maxKept);
  }

  async #earlier(database: Pick<Database, 'query'>, job: NewJob): Promise<Job | undefined> {
    if (job.idempotencyKey === undefined) return undefined;
    const [row] = await database.query<{ request_hash: string }>(
      `SELECT ${jobColumns}, request_hash FROM jobs WHERE account = $1 AND idempotency_key = $2`,
      [job.account, job.idempotencyKey],
    );
    if (row === undefined) return undefined;
    if (row.request_hash === hashOf(job)) return jobOf(row);
    throw new IdempotencyConflict('The idempotency key was used for another request.');
  }

  /** @throws TooManyJobs */
  async #countBelowLimit(transaction: Transaction, account: string): Promise<number> {
    const [row] = await transaction.query<{ unfinished: number }>(
      "SELECT COUNT(*) AS unfinished FROM jobs WHERE account = $1 AND batch_id IS NULL AND state IN ('queued', 'running')",
      [account],
    );
    const unfinished = row?.unfinished ?? 0;
    const { maxUnfinished } = this.#limits;
    if (maxUnfinished > 0 && unfinished >= maxUnfinished) {
      throw new TooManyJobs(`The account has ${unfinished} unfinished jobs.`);
    }
    return unfinished;
  }

  /** Under this name only the result of the newest recording is stored. */
  async #replaceEarlier(transaction: Transaction, { account, source }: NewJob): Promise<void> {
    const job = { id: 'new', source };
    if (resultObjectOf(job) === undefined) return;
    const rest = JSON.stringify({ ...jobSource(job), resultObject: undefined });
    for (const which of ["state IN ('queued', 'running')", 'failure_file_due_ms IS NOT NULL']) {
      await transaction.execute(
        `UPDATE jobs SET source = $3, failure_file_due_ms = NULL WHERE account = $1 AND source = $2 AND ${which}`,
        [account, source, rest],
      );
    }
  }

  /** It has no place in the queue: its lines have. */
  async #addBatch(transaction: Transaction, job: NewJob): Promise<Job> {
    const { maxBatches = 0 } = this.#limits;
    const [row] = await transaction.query<{ batches: number }>(
      "SELECT COUNT(*) AS batches FROM jobs WHERE account = $1 AND task = 'batch' AND state IN ('queued', 'running')",
      [job.account],
    );
    if (maxBatches > 0 && (row?.batches ?? 0) >= maxBatches) {
      throw new TooManyJobs(`The account has ${row?.batches} unfinished batches.`);
    }
    const created = await this.#insert(transaction, job, 0);
    if (job.manifest !== undefined) {
      await transaction.execute('INSERT INTO batch_manifests (job_id, manifest) VALUES ($1, $2)', [
        created.id,
        job.manifest,
      ]);
    }
    await transaction.announce(BATCH_TOPIC);
    return created;
  }

  async #insert(transaction: Transaction, job: NewJob, priority: number): Promise<Job> {
    const [row] = await transaction.query(
      'INSERT INTO jobs (id, account, key_id, task, state, source, parameters, callback_url, idempotency_key, request_hash, ' +
        "priority, created_at_ms, home, traceparent) VALUES ($1, $2, $3, $4, 'queued', $5, $6, $7, $8, $9, $10, $11, $12, $13) " +
        `RETURNING ${jobColumns}`,
      [
        randomUUID(),
        job.account,
        job.keyId,
        job.task,
        job.source,
        job.parameters,
        job.callbackUrl ?? null,
        job.idempotencyKey ?? null,
        hashOf(job),
        priority,
        Date.now(),
        job.home ?? null,
        job.traceparent ?? null,
      ],
    );
    if (row === undefined) throw new Error('The database did not return the new job.');
    return jobOf(row);
  }
}

/**
 * One question at a time, for everything that is asked meanwhile: however many clients ask, others need not wait for more than one
 * reading of a long queue or of a large batch.
 */
function gathered<Answer>(ask: (ids: readonly string[]) => Promise<ReadonlyMap<string, Answer>>) {
  let last: Promise<unknown> = Promise.resolve();
  let next: { readonly ids: Set<string>; readonly answers: ReturnType<typeof ask> } | undefined;
  return (ids: readonly string[]): ReturnType<typeof ask> => {
    if (next === undefined) {
      const all = new Set<string>();
      const answers = last.then(() => {
        next = undefined;
        return ask([...all]);
      });
      last = answers.catch(() => {});
      next = { ids: all, answers };
    }
    for (const id of ids) next.ids.add(id);
    return next.answers;
  };
}

/**
 * The queue is sorted once for all jobs that are asked for: to count it anew for each takes minutes when it is long. Before a job
 * that any host may take are all others; before one of a host's own files, jobs for any host and for the same one.
 */
const rankedQueue = `
  SELECT id, CASE WHEN home IS NULL THEN of_all ELSE of_all - of_hosts + of_host END AS before FROM (
    SELECT id, home,
      RANK() OVER (${queueOrder}) - 1 AS of_all,
      RANK() OVER (PARTITION BY CASE WHEN home IS NULL THEN 0 ELSE 1 END ${queueOrder}) - 1 AS of_hosts,
      RANK() OVER (PARTITION BY home ${queueOrder}) - 1 AS of_host
    FROM jobs WHERE ${isQueued}) AS ranked`;

const nothing = async (): Promise<void> => {};

const unfinishedStates: ReadonlySet<JobState> = new Set(['queued', 'running']);

/** @throws NotRetryable */
function refuseRetry(job: Job): void {
  if (job.state !== 'failed') throw new NotRetryable('not failed');
  if (!canRetry(job)) throw new NotRetryable('no source');
}

/** Of what makes two requests the same. */
function hashOf({ task, source, parameters, callbackUrl }: NewJob): string {
  const parts = [task, source, parameters, callbackUrl ?? null];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
