// SPDX-License-Identifier: Apache-2.0
import { placesFor } from '../database/conditions.js';
import type { Transaction } from '../database/database.js';
import type { DeliveryQueue } from '../webhooks/delivery-queue.js';
import { MAX_PAUSE_S } from '../webhooks/schedule.js';

/** That of a single host: a table beside that of the deliveries. */
export class SqliteDeliveryQueue implements DeliveryQueue {
  async add(transaction: Transaction, deliveryId: string, delayS: number): Promise<void> {
    await transaction.execute(
      'INSERT INTO webhook_queue (delivery_id, due_at_ms, is_taken) VALUES ($1, $2, 0)',
      [deliveryId, Date.now() + Math.round(1000 * delayS)],
    );
  }

  async take(transaction: Transaction, except: readonly string[]): Promise<string | undefined> {
    const nowMs = Date.now();
    const isOther = except.length === 0 ? '' : ` AND d.account NOT IN (${placesFor(except, 3)})`;
    const [row] = await transaction.query<{ delivery_id: string }>(
      'UPDATE webhook_queue SET is_taken = 1 WHERE place = (SELECT q.place FROM webhook_queue q ' +
        `JOIN webhook_deliveries d ON d.id = q.delivery_id WHERE q.is_taken = 0 AND (q.due_at_ms <= $1 OR q.due_at_ms > $2)${isOther} ` +
        'ORDER BY q.due_at_ms, q.place LIMIT 1) RETURNING delivery_id',
      // What is due later than any pause lasts was put there before the clock was set back.
      [nowMs, nowMs + 1000 * MAX_PAUSE_S, ...except],
    );
    return row?.delivery_id;
  }

  async remove(transaction: Transaction, deliveryId: string): Promise<void> {
    await transaction.execute('DELETE FROM webhook_queue WHERE delivery_id = $1', [deliveryId]);
  }
}
