// SPDX-License-Identifier: Apache-2.0
import PgBoss from 'pg-boss';
import { placesFor } from '../database/conditions.js';
import type { Queries, Transaction, Value } from '../database/database.js';
import type { clientSettings } from '../database/postgres-settings.js';
import type { DeliveryQueue } from '../webhooks/delivery-queue.js';
import { type JobQueue, MAX_TRIES, type QueuedJob, RETRY_DELAY_S } from './job-queue.js';

const SCHEMA = 'veravox_jobs';
const QUEUE = 'jobs';
const DEAD_LETTERS = 'dead-jobs';
const WEBHOOKS = 'webhooks';
/** The lease of its worker ends far earlier; this is the longest that pg-boss allows. */
const EXPIRE_HOURS = 23;
/** pg-boss drops what waits for longer. A job must never vanish without an end, so this is longer than anybody waits. */
const RETENTION_DAYS = 3650;
/** What nobody looks at any more. */
const DEAD_LETTER_DAYS = 14;

/** Each home has its own, which only its workers ask. */
const queueOf = (home: QueuedJob['home']): string => (home === undefined ? QUEUE : `${QUEUE}-${home}`);

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
            retentionDays: RETENTION_DAYS,
            ...within(transaction),
          },
        )),
      take: (transaction, except) =>
        except.length === 0
          ? this.#take(WEBHOOKS, transaction)
          : takeOther(transaction, { queues: [WEBHOOKS], table: 'webhook_deliveries', except }),
      remove: async (transaction, deliveryId) =>
        void (await boss.deleteJob(WEBHOOKS, deliveryId, within(transaction))),
    };
  }

  /**
   * @param onError of the upkeep, which goes on
   * @param homes whose jobs this process may add
   */
  static async open(
    settings: ReturnType<typeof clientSettings>,
    onError: (error: unknown) => void,
    retryDelayS = RETRY_DELAY_S,
    homes: readonly string[] = [],
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
      for (const home of [undefined, ...homes]) await boss.createQueue(queueOf(home));
      await boss.createQueue(WEBHOOKS);
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => {});
      throw error;
    }
    return new PgBossJobQueue(boss, retryDelayS);
  }

  async add(transaction: Transaction, job: QueuedJob, priority: number): Promise<void> {
    await this.#send(transaction, job, priority);
  }

  async take(
    transaction: Transaction,
    homes: readonly QueuedJob['home'][] = [undefined],
    except: readonly string[] = [],
  ): Promise<string | undefined> {
    if (except.length > 0)
      return takeOther(transaction, { queues: homes.map(queueOf), table: 'jobs', except });
    for (const home of homes) {
      const id = await this.#take(queueOf(home), transaction);
      if (id !== undefined) return id;
    }
    return undefined;
  }

  async hasDue(
    queries: Queries,
    homes: readonly QueuedJob['home'][],
    except: readonly string[],
  ): Promise<boolean> {
    const [sql, values] = dueOfOthers({ queues: homes.map(queueOf), table: 'jobs', except });
    return (await queries.query(sql, values)).length > 0;
  }

  async retry(transaction: Transaction, { id, home }: QueuedJob, reason: string): Promise<boolean> {
    const queue = queueOf(home);
    await this.#boss.fail(queue, id, { reason }, within(transaction));
    const job = await this.#boss.getJobById(queue, id, { includeArchive: false, ...within(transaction) });
    if (job?.state === 'retry') return true;
    // It would be kept for twice as long as the job.
    await transaction.execute(
      `UPDATE ${SCHEMA}.job SET keep_until = now() + interval '${DEAD_LETTER_DAYS} days' ` +
        "WHERE name = $1 AND data ->> 'jobId' = $2",
      [DEAD_LETTERS, id],
    );
    return false;
  }

  async revive(transaction: Transaction, job: QueuedJob, priority: number): Promise<void> {
    await transaction.execute(`DELETE FROM ${SCHEMA}.job WHERE name = $1 AND data ->> 'jobId' = $2`, [
      DEAD_LETTERS,
      job.id,
    ]);
    await this.#send(transaction, job, priority);
  }

  async giveBack(transaction: Transaction, { id, home }: QueuedJob): Promise<void> {
    // What was tried before stays so; pg-boss counts when it takes one that was begun.
    await transaction.execute(
      `UPDATE ${SCHEMA}.job SET state = CASE WHEN retry_count = 0 THEN 'created' ELSE 'retry' END::${SCHEMA}.job_state, ` +
        'started_on = CASE WHEN retry_count = 0 THEN NULL ELSE started_on END, retry_count = GREATEST(retry_count - 1, 0), ' +
        'start_after = now() WHERE name = $1 AND id = $2',
      [queueOf(home), id],
    );
  }

  async move(transaction: Transaction, job: QueuedJob, priority: number): Promise<void> {
    await this.remove(transaction, job);
    await this.#send(transaction, job, priority);
  }

  async remove(transaction: Transaction, { id, home }: QueuedJob): Promise<void> {
    await this.#boss.deleteJob(queueOf(home), id, within(transaction));
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

  async #send(transaction: Transaction, { id, home }: QueuedJob, priority: number): Promise<void> {
    await this.#boss.send(
      queueOf(home),
      // For readers of the dead letters, which get ids of their own.
      { jobId: id },
      {
        id,
        priority,
        retryLimit: MAX_TRIES - 1,
        retryDelay: this.#retryDelayS,
        retryBackoff: true,
        expireInHours: EXPIRE_HOURS,
        retentionDays: RETENTION_DAYS,
        deadLetter: DEAD_LETTERS,
        ...within(transaction),
      },
    );
  }
}

interface OfOthers {
  readonly queues: readonly string[];
  /** Whose rows have the ids of those in the queues. */
  readonly table: 'jobs' | 'webhook_deliveries';
  /** Accounts. */
  readonly except: readonly string[];
}

/** pg-boss knows no accounts. */
function dueOfOthers({ queues, table, except }: OfOthers): [sql: string, values: string[]] {
  const isOther =
    except.length === 0 ? '' : ` AND t.account NOT IN (${placesFor(except, queues.length + 1)})`;
  return [
    `SELECT q.name, q.id::text AS id FROM ${SCHEMA}.job q JOIN ${table} t ON t.id = q.id::text ` +
      `WHERE q.name IN (${placesFor(queues)}) AND q.state < 'active' AND q.start_after < now()${isOther} ` +
      'ORDER BY q.priority DESC, q.created_on, q.id LIMIT 1',
    [...queues, ...except],
  ];
}

/** As pg-boss takes one. */
async function takeOther(transaction: Transaction, others: OfOthers): Promise<string | undefined> {
  const [sql, values] = dueOfOthers(others);
  const [next] = await transaction.query<{ name: string; id: string }>(
    `${sql} FOR UPDATE OF q SKIP LOCKED`,
    values,
  );
  if (next === undefined) return undefined;
  await transaction.execute(
    `UPDATE ${SCHEMA}.job SET state = 'active', started_on = now(), ` +
      'retry_count = CASE WHEN started_on IS NULL THEN retry_count ELSE retry_count + 1 END WHERE name = $1 AND id = $2',
    [next.name, next.id],
  );
  return next.id;
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
