// SPDX-License-Identifier: Apache-2.0
import { placesFor } from '../database/conditions.js';
import type { Queries, Transaction, Value } from '../database/database.js';
import { type JobQueue, MAX_TRIES, type QueuedJob, RETRY_DELAY_S } from './job-queue.js';
import { SqliteDeliveryQueue } from './sqlite-delivery-queue.js';

/** The queue of a single host: a table beside that of the jobs. */
export class SqliteJobQueue implements JobQueue {
  readonly webhooks = new SqliteDeliveryQueue();
  readonly #retryDelayS: number;

  constructor(retryDelayS = RETRY_DELAY_S) {
    this.#retryDelayS = retryDelayS;
  }

  async add(transaction: Transaction, { id }: QueuedJob, priority: number): Promise<void> {
    await transaction.execute(
      'INSERT INTO job_queue (job_id, priority, tries, due_at_ms, is_taken) VALUES ($1, $2, 0, $3, 0)',
      [id, priority, Date.now()],
    );
  }

  async take(
    transaction: Transaction,
    _homes?: readonly QueuedJob['home'][],
    except: readonly string[] = [],
  ): Promise<string | undefined> {
    const [sql, values] = this.#due(except);
    const [row] = await transaction.query<{ job_id: string }>(
      `UPDATE job_queue SET is_taken = 1, tries = tries + 1 WHERE place = (${sql}) RETURNING job_id`,
      values,
    );
    return row?.job_id;
  }

  async hasDue(
    queries: Queries,
    _homes: readonly QueuedJob['home'][],
    except: readonly string[],
  ): Promise<boolean> {
    return (await queries.query(...this.#due(except))).length > 0;
  }

  async retry(transaction: Transaction, job: QueuedJob): Promise<boolean> {
    const [row] = await transaction.query<{ tries: number }>(
      'SELECT tries FROM job_queue WHERE job_id = $1',
      [job.id],
    );
    const tries = row?.tries ?? MAX_TRIES;
    if (tries >= MAX_TRIES) {
      await this.remove(transaction, job);
      return false;
    }
    await transaction.execute('UPDATE job_queue SET is_taken = 0, due_at_ms = $1 WHERE job_id = $2', [
      Date.now() + this.#delayMs(tries),
      job.id,
    ]);
    return true;
  }

  revive(transaction: Transaction, job: QueuedJob, priority: number): Promise<void> {
    return this.add(transaction, job, priority);
  }

  async giveBack(transaction: Transaction, { id }: QueuedJob): Promise<void> {
    await transaction.execute('UPDATE job_queue SET is_taken = 0, tries = tries - 1 WHERE job_id = $1', [id]);
  }

  async move(transaction: Transaction, { id }: QueuedJob, priority: number): Promise<void> {
    await transaction.execute('UPDATE job_queue SET priority = $2 WHERE job_id = $1', [id, priority]);
  }

  async remove(transaction: Transaction, { id }: QueuedJob): Promise<void> {
    await transaction.execute('DELETE FROM job_queue WHERE job_id = $1', [id]);
  }

  async close(): Promise<void> {}

  /** The next one of other accounts. */
  #due(except: readonly string[]): [sql: string, values: Value[]] {
    const isOther = except.length === 0 ? '' : ` AND account NOT IN (${placesFor(except, 3)})`;
    const from = except.length === 0 ? 'job_queue q' : 'job_queue q JOIN jobs ON jobs.id = q.job_id';
    return [
      `SELECT q.place FROM ${from} WHERE q.is_taken = 0 AND (q.due_at_ms <= $1 OR q.due_at_ms > $2)${isOther} ` +
        'ORDER BY q.priority DESC, q.place LIMIT 1',
      // What is due later than any pause lasts was put there before the clock was set back.
      [Date.now(), Date.now() + this.#delayMs(MAX_TRIES), ...except],
    ];
  }

  #delayMs(tries: number): number {
    return 1000 * this.#retryDelayS * 2 ** (tries - 1);
  }
}
