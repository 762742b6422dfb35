// SPDX-License-Identifier: Apache-2.0
//
// This room keeps webhooks to be sent: their queue, the schedule of attempts, the log, and the secrets
// that sign them.
import { Conditions } from '../../state/database/conditions.js';
import type { Database, Row } from '../../state/database/database.js';
import { nowMs } from '../../state/database/now-ms.js';
import { DELIVERY_TOPIC } from './add-delivery.js';
import { type Attempt, type Delivery, type DeliveryState, deliveryColumns, deliveryOf } from './delivery.js';

export interface DeliveryFilter {
  readonly id?: string | undefined;
  readonly account?: string | undefined;
  readonly jobId?: string | undefined;
  readonly state?: DeliveryState | undefined;
}

/** A delivery with its latest attempts, the oldest of them first. */
export interface LoggedDelivery extends Delivery {
  readonly log: readonly Attempt[];
}

/** Webhooks, and what came of their attempts. */
export class DeliveryTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Undefined for a job without a webhook, and before its end. */
  async ofJob(jobId: string): Promise<LoggedDelivery | undefined> {
    return (await this.list({ jobId }, 1))[0];
  }

  /** The newest first. */
  async list({ id, account, jobId, state }: DeliveryFilter, limit: number): Promise<LoggedDelivery[]> {
    const conditions = new Conditions();
    conditions.addEqual({ id, account, job_id: jobId, state });
    const rows = await this.#database.query(
      `SELECT ${deliveryColumns} FROM webhook_deliveries ${conditions.where} ORDER BY created_at_ms DESC, id LIMIT ${limit}`,
      conditions.values,
    );
    const found: LoggedDelivery[] = [];
    for (const row of rows) {
      const delivery = deliveryOf(row);
      found.push({ ...delivery, log: await this.#logOf(delivery.id) });
    }
    return found;
  }

  /** Of all accounts, the oldest first. */
  async failedIds(): Promise<string[]> {
    const rows = await this.#database.query<Row & { id: string }>(
      "SELECT id FROM webhook_deliveries WHERE state = 'failed' ORDER BY created_at_ms, id",
    );
    return rows.map(({ id }) => id);
  }

  /** Of all accounts. */
  async countWaiting(timeoutMs: number): Promise<number> {
    const [row] = await this.#database.queryPromptly<{ waiting: number }>(
      "SELECT COUNT(*) AS waiting FROM webhook_deliveries WHERE state IN ('waiting', 'sending')",
      [],
      timeoutMs,
    );
    return row?.waiting ?? 0;
  }

  async find(id: string): Promise<LoggedDelivery | undefined> {
    return (await this.list({ id }, 1))[0];
  }

  /**
   * Begins anew with a delivery that is over, under the same id.
   * @param id of the delivery or of its job
   * @param before runs before the delivery is in the queue; if it fails, the delivery is not
   * @returns undefined if there is none, or if it is not over
   */
  replay(id: string, before = async (_: Delivery): Promise<void> => {}): Promise<Delivery | undefined> {
    return this.#database.transaction(async (transaction) => {
      const [row] = await transaction.query(
        "UPDATE webhook_deliveries SET state = 'waiting', attempts = 0, finished_at_ms = NULL, " +
          `due_at_ms = ${nowMs[transaction.dialect]} ` +
          "WHERE (id = $1 OR job_id = $1) AND state IN ('delivered', 'failed') " +
          `RETURNING ${deliveryColumns}`,
        [id],
      );
      if (row === undefined) return undefined;
      const delivery = deliveryOf(row);
      await before(delivery);
      await transaction.announce(DELIVERY_TOPIC);
      return delivery;
    });
  }

  async #logOf(deliveryId: string): Promise<Attempt[]> {
    const rows = await this.#database.query<
      Row & { at_ms: number; took_ms: number; status: number | null; problem: string | null }
    >(
      `SELECT at_ms, took_ms, status, problem FROM webhook_attempts WHERE delivery_id = $1 ORDER BY attempt`,
      [deliveryId],
    );
    return rows.map(({ at_ms: atMs, took_ms: tookMs, status, problem }) => ({
      atMs,
      tookMs,
      status: status ?? undefined,
      problem: problem ?? undefined,
    }));
  }
}
