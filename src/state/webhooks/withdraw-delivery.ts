// SPDX-License-Identifier: Apache-2.0
import type { Transaction } from '../database/database.js';
import type { DeliveryQueue } from './delivery-queue.js';

/** In the transaction that begins anew with a job that had ended: its next end is told under another id, once. */
export async function withdrawDelivery(
  transaction: Transaction,
  queue: DeliveryQueue,
  jobId: string,
): Promise<void> {
  const [row] = await transaction.query<{ id: string }>(
    'DELETE FROM webhook_deliveries WHERE job_id = $1 RETURNING id',
    [jobId],
  );
  if (row !== undefined) await queue.remove(transaction, row.id);
}
