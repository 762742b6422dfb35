// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import type { Transaction } from '../../state/database/database.js';
import { nowMs } from '../../state/database/now-ms.js';

/** Announced when a delivery may be due. */
export const DELIVERY_TOPIC = 'webhooks';

export interface EndedJob {
  readonly id: string;
  readonly account: string;
  readonly callbackUrl?: string | undefined;
}

/** In the transaction that ends the job: no end without its webhook, and no second one. */
export async function addDelivery(
  transaction: Transaction,
  { id: jobId, account, callbackUrl }: EndedJob,
): Promise<void> {
  if (callbackUrl === undefined) return;
  await transaction.execute(
    'INSERT INTO webhook_deliveries (id, job_id, account, url, state, created_at_ms, due_at_ms) ' +
      `VALUES ($1, $2, $3, $4, 'waiting', $5, ${nowMs[transaction.dialect]})`,
    [randomUUID(), jobId, account, callbackUrl, Date.now()],
  );
  await transaction.announce(DELIVERY_TOPIC);
}
