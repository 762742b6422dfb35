// SPDX-License-Identifier: Apache-2.0
import type { TestContext } from 'node:test';
import { BatchDesk } from '../../src/jobs/queue/batch-desk.js';
import { DeliveryDesk } from '../../src/jobs/queue/delivery-desk.js';
import { JobDesk } from '../../src/jobs/queue/job-desk.js';
import { Jobs } from '../../src/jobs/queue/jobs.js';
import type { Database } from '../../src/state/database/database.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { type Connect, onEachDatabase } from './databases.js';

export interface JobOffice {
  readonly jobs: Jobs;
  readonly desk: JobDesk;
  readonly batchDesk: BatchDesk;
  readonly deliveryDesk: DeliveryDesk;
  readonly database: Database;
}

/** One host's part. */
export type OpenOffice = (options?: {
  leaseMs?: number;
  maxUnfinished?: number;
  /** Names the stored files it can read. */
  home?: string;
  /** For priorities. */
  clockMs?: () => number;
}) => Promise<JobOffice>;

/** Runs a test with an empty queue in each database, without pauses before further tries. */
export function onEachQueue(name: string, run: (open: OpenOffice, test: TestContext) => Promise<void>): void {
  onEachDatabase(name, async (connect, test) => {
    const open: OpenOffice = async ({ leaseMs = 60_000, maxUnfinished = 0, home, clockMs } = {}) => {
      const database = await tablesIn(connect);
      return {
        database,
        jobs: new Jobs(database, { maxUnfinished }, clockMs),
        desk: new JobDesk(database, leaseMs, { home, clockMs, retryDelayMs: 0 }),
        batchDesk: new BatchDesk(database, leaseMs, home),
        deliveryDesk: new DeliveryDesk(database, leaseMs),
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
