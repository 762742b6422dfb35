// SPDX-License-Identifier: Apache-2.0
import type { TestContext } from 'node:test';
import { BatchWorkTable } from '../../src/jobs/queue/batch-work-table.js';
import { DeliveryWorkTable } from '../../src/jobs/queue/delivery-work-table.js';
import { JobTable } from '../../src/jobs/queue/job-table.js';
import { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import type { Database } from '../../src/state/database/database.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { type Connect, onEachDatabase } from './databases.js';

export interface JobParts {
  readonly jobs: JobTable;
  readonly workTable: JobWorkTable;
  readonly batchWorkTable: BatchWorkTable;
  readonly deliveryWorkTable: DeliveryWorkTable;
  readonly database: Database;
}

/** One host's part. */
export type OpenJobParts = (options?: {
  leaseMs?: number;
  maxUnfinished?: number;
  /** Names the stored files it can read. */
  home?: string;
  /** For priorities. */
  clockMs?: () => number;
}) => Promise<JobParts>;

/** Runs a test with an empty queue in each database, without pauses before further tries. */
export function onEachQueue(
  name: string,
  run: (open: OpenJobParts, test: TestContext) => Promise<void>,
): void {
  onEachDatabase(name, async (connect, test) => {
    const open: OpenJobParts = async ({ leaseMs = 60_000, maxUnfinished = 0, home, clockMs } = {}) => {
      const database = await tablesIn(connect);
      return {
        database,
        jobs: new JobTable(database, { maxUnfinished }, clockMs),
        workTable: new JobWorkTable(database, leaseMs, { home, clockMs, retryDelayMs: 0 }),
        batchWorkTable: new BatchWorkTable(database, leaseMs, home),
        deliveryWorkTable: new DeliveryWorkTable(database, leaseMs),
      };
    };
    await run(open, test);
  });
}

async function tablesIn(connect: Connect): Promise<Database> {
  const database = connect();
  await migrate(database, migrations);
  return database;
}
