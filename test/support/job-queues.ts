// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { parseDatabaseAddress } from '../../src/base/config/database-address.js';
import type { Database } from '../../src/state/database/database.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { clientSettings } from '../../src/state/database/postgres-settings.js';
import { BatchDesk } from '../../src/state/jobs/batch-desk.js';
import { JobDesk } from '../../src/state/jobs/job-desk.js';
import type { JobQueue } from '../../src/state/jobs/job-queue.js';
import { Jobs } from '../../src/state/jobs/jobs.js';
import { PgBossJobQueue } from '../../src/state/jobs/pg-boss-job-queue.js';
import { SqliteJobQueue } from '../../src/state/jobs/sqlite-job-queue.js';
import { DeliveryDesk } from '../../src/state/webhooks/delivery-desk.js';
import { type Connect, onEachDatabase } from './databases.js';

export interface JobOffice {
  readonly jobs: Jobs;
  readonly desk: JobDesk;
  readonly batchDesk: BatchDesk;
  readonly deliveryDesk: DeliveryDesk;
  readonly queue: JobQueue;
  readonly database: Database;
}

/** One host's part, with its own queue. */
export type OpenOffice = (options?: {
  leaseMs?: number;
  maxUnfinished?: number;
  /** Names the stored files it can read. */
  home?: string;
  /** For priorities. */
  clockMs?: () => number;
}) => Promise<JobOffice>;

/** Runs a test with an empty queue of each kind. */
export function onEachQueue(name: string, run: (open: OpenOffice, test: TestContext) => Promise<void>): void {
  onEachDatabase(name, async (connect, test, url) => {
    const open: OpenOffice = async ({ leaseMs = 60_000, maxUnfinished = 0, home, clockMs } = {}) => {
      const database = await tablesIn(connect);
      const queue = await queueFor(database, url, home);
      test.after(() => queue.close());
      return {
        database,
        queue,
        jobs: new Jobs(database, queue, { maxUnfinished }, clockMs),
        desk: new JobDesk(database, queue, leaseMs, { home, clockMs }),
        batchDesk: new BatchDesk(database, queue, leaseMs, home),
        deliveryDesk: new DeliveryDesk(database, queue.webhooks, leaseMs),
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

async function queueFor(
  database: Database,
  url: string | undefined,
  home: string | undefined,
): Promise<JobQueue> {
  if (database.dialect === 'sqlite') return new SqliteJobQueue(0);
  const address = parseDatabaseAddress(url ?? '');
  if (address === undefined) throw new Error('There is no address.');
  // pg-boss allows nothing shorter than a second.
  const homes = home === undefined ? [] : [home];
  return PgBossJobQueue.open(clientSettings(address, ''), assert.ifError, 1, homes);
}
