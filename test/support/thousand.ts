// SPDX-License-Identifier: Apache-2.0
import { addDelivery } from '../../src/jobs/queue/add-delivery.js';
import type { JobTask } from '../../src/jobs/queue/job.js';
import type { Transaction } from '../../src/state/database/database.js';
import type { JobParts } from './job-queues.js';

export const THOUSAND = 1000;

interface Items {
  readonly account: string;
  readonly task?: JobTask;
  readonly state?: 'queued' | 'cancelled';
  readonly count?: number;
}

/** Adds a thousand rows at once; requests would take a minute. */
async function addRows(
  { database }: JobParts,
  { account, task = 'predict', state = 'queued', count = THOUSAND }: Items,
  also: (transaction: Transaction, id: string, i: number) => Promise<void>,
): Promise<void> {
  await database.transaction(async (transaction) => {
    for (let i = 0; i < count; i++) {
      const id = crypto.randomUUID();
      await transaction.execute(
        'INSERT INTO jobs (id, account, key_id, task, state, source, parameters, request_hash, priority, created_at_ms, finished_at_ms) ' +
          "VALUES ($1, $2, 'k', $3, $4, '{\"resultFolder\":\"f\"}', '{}', '', 0, $5, $6)",
        [id, account, task, state, 1000 + i, state === 'cancelled' ? 2000 : null],
      );
      await also(transaction, id, i);
    }
  });
}

/** Of the highest priority: only turns bring others forward. */
export const manyJobs = (jobParts: JobParts, account: string, count?: number): Promise<void> =>
  addRows(jobParts, { account, ...(count && { count }) }, async () => {});

export const manyBatches = (jobParts: JobParts, account: string): Promise<void> =>
  addRows(jobParts, { account, task: 'batch' }, async () => {});

export const manyDeliveries = (
  jobParts: JobParts,
  account: string,
  urlOf: (i: number) => string,
): Promise<void> =>
  addRows(jobParts, { account, state: 'cancelled' }, (transaction, id, i) =>
    addDelivery(transaction, { id, account, callbackUrl: urlOf(i) }),
  );
