// SPDX-License-Identifier: Apache-2.0
import type { Transaction } from '../database/database.js';
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

  async take(transaction: Transaction): Promise<string | undefined> {
    const [row] = await transaction.query<{ job_id: string }>(
      'UPDATE job_queue SET is_taken = 1, tries = tries + 1 WHERE place = (SELECT place FROM job_queue ' +
        'WHERE is_taken = 0 AND (due_at_ms <= $1 OR due_at_ms > $2) ORDER BY priority DESC, place LIMIT 1) RETURNING job_id',
      // What is due later than any pause lasts was put there before the clock was set back.
      [Date.now(), Date.now() + this.#delayMs(MAX_TRIES)],
    );
    return row?.job_id;
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

  #delayMs(tries: number): number {
    return 1000 * this.#retryDelayS * 2 ** (tries - 1);
  }
}
