// SPDX-License-Identifier: Apache-2.0
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

  async take(transaction: Transaction): Promise<string | undefined> {
    const nowMs = Date.now();
    const [row] = await transaction.query<{ delivery_id: string }>(
      'UPDATE webhook_queue SET is_taken = 1 WHERE place = (SELECT place FROM webhook_queue ' +
        'WHERE is_taken = 0 AND (due_at_ms <= $1 OR due_at_ms > $2) ORDER BY due_at_ms, place LIMIT 1) RETURNING delivery_id',
      // What is due later than any pause lasts was put there before the clock was set back.
      [nowMs, nowMs + 1000 * MAX_PAUSE_S],
    );
    return row?.delivery_id;
  }

  async remove(transaction: Transaction, deliveryId: string): Promise<void> {
    await transaction.execute('DELETE FROM webhook_queue WHERE delivery_id = $1', [deliveryId]);
  }
}
