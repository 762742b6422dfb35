// SPDX-License-Identifier: Apache-2.0
import PgBoss from 'pg-boss';
import type { Queries, Transaction, Value } from '../database/database.js';
import type { clientSettings } from '../database/postgres-settings.js';
import type { DeliveryQueue } from '../webhooks/delivery-queue.js';
import { type JobQueue, MAX_TRIES, RETRY_DELAY_S } from './job-queue.js';

const SCHEMA = 'veravox_jobs';
const QUEUE = 'jobs';
const DEAD_LETTERS = 'dead-jobs';
const WEBHOOKS = 'webhooks';
/** The lease of its worker ends far earlier; this is the longest that pg-boss allows. */
const EXPIRE_HOURS = 23;

/** The queue of several hosts: pg-boss, in a schema of its own. */
export class PgBossJobQueue implements JobQueue {
  readonly #boss: PgBoss;
  readonly #retryDelayS: number;
  readonly webhooks: DeliveryQueue;

  private constructor(boss: PgBoss, retryDelayS: number) {
    this.#boss = boss;
    this.#retryDelayS = retryDelayS;
    this.webhooks = {
      add: async (transaction, deliveryId, delayS) =>
        void (await boss.send(
          WEBHOOKS,
          {},
          {
            id: deliveryId,
            startAfter: delayS,
            // A sender that died is noticed by the end of its lease.
            retryLimit: 0,
            expireInHours: EXPIRE_HOURS,
            ...within(transaction),
          },
        )),
      take: (transaction) => this.#take(WEBHOOKS, transaction),
      remove: async (transaction, deliveryId) =>
        void (await boss.deleteJob(WEBHOOKS, deliveryId, within(transaction))),
    };
  }

  /** @param onError of the upkeep, which goes on */
  static async open(
    settings: ReturnType<typeof clientSettings>,
    onError: (error: unknown) => void,
    retryDelayS = RETRY_DELAY_S,
  ): Promise<PgBossJobQueue> {
    const boss = new PgBoss({
      ...(settings as PgBoss.DatabaseOptions),
      schema: SCHEMA,
      max: 2,
      schedule: false,
    });
    boss.on('error', onError);
    try {
      await boss.start();
      await boss.createQueue(DEAD_LETTERS);
      await boss.createQueue(QUEUE);
      await boss.createQueue(WEBHOOKS);
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => {});
      throw error;
    }
    return new PgBossJobQueue(boss, retryDelayS);
  }

  async add(transaction: Transaction, jobId: string, priority: number): Promise<void> {
    await this.#send(transaction, jobId, priority);
  }

  take(transaction: Transaction): Promise<string | undefined> {
    return this.#take(QUEUE, transaction);
  }

  async retry(transaction: Transaction, jobId: string, reason: string): Promise<boolean> {
    await this.#boss.fail(QUEUE, jobId, { reason }, within(transaction));
    const job = await this.#boss.getJobById(QUEUE, jobId, { includeArchive: false, ...within(transaction) });
    return job?.state === 'retry';
  }

  async giveBack(transaction: Transaction, jobId: string, priority: number): Promise<void> {
    await this.remove(transaction, jobId);
    await this.#send(transaction, jobId, priority);
  }

  async remove(transaction: Transaction, jobId: string): Promise<void> {
    await this.#boss.deleteJob(QUEUE, jobId, within(transaction));
  }

  async close(): Promise<void> {
    // Upkeep that is cut off by this is no failure.
    this.#boss.removeAllListeners('error');
    this.#boss.on('error', () => {});
    await this.#boss.stop({ graceful: false, wait: true });
  }

  async #take(queue: string, transaction: Transaction): Promise<string | undefined> {
    const [taken] = await this.#boss.fetch(queue, { batchSize: 1, ...within(transaction) });
    return taken?.id;
  }

  async #send(transaction: Transaction, jobId: string, priority: number): Promise<void> {
    await this.#boss.send(
      QUEUE,
      // For readers of the dead letters, which get ids of their own.
      { jobId },
      {
        id: jobId,
        priority,
        retryLimit: MAX_TRIES - 1,
        retryDelay: this.#retryDelayS,
        retryBackoff: true,
        expireInHours: EXPIRE_HOURS,
        deadLetter: DEAD_LETTERS,
        ...within(transaction),
      },
    );
  }
}

/** Has pg-boss work in the caller's transaction. */
const within = (queries: Queries): { db: PgBoss.Db } => ({
  db: {
    async executeSql(text: string, values: readonly unknown[]) {
      return { rows: await queries.query(text, values.map(toValue)) };
    },
  },
});

/** As PostgreSQL reads them from text. Lists are of ids, which need no quotes. */
function toValue(value: unknown): Value {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return `{${value.join()}}`;
  if (typeof value === 'string' || typeof value === 'number') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
