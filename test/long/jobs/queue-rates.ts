// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import { JobTable } from '../../../src/jobs/queue/job-table.js';
import { JobWorkTable } from '../../../src/jobs/queue/job-work-table.js';
import type { Database } from '../../../src/state/database/database.js';
import { migrate } from '../../../src/state/database/migrate.js';
import { migrations } from '../../../src/state/database/migrations/migrations.js';
import { SqliteDatabase } from '../../../src/state/database/sqlite-database.js';
import { postgresAt } from '../../support/databases.js';
import { startPostgres } from '../../support/postgres.js';

export interface QueueRates {
  readonly database: string;
  readonly jobs: number;
  /** Concurrent client requests, and workers. */
  readonly atOnce: number;
  readonly insertsPerS: number;
  /** Taken and finished. */
  readonly claimsPerS: number;
}

const AT_ONCE = 8;

const rateOf = (jobs: number, startedMs: number): number =>
  Math.round(jobs / ((performance.now() - startedMs) / 1000));

async function measure(name: string, database: Database, jobs: number): Promise<QueueRates> {
  await migrate(database, migrations);
  const clients = new JobTable(database, { maxUnfinished: 0 });
  const workTable = new JobWorkTable(database);
  try {
    let startedMs = performance.now();
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, lane) => {
        for (let i = lane; i < jobs; i += AT_ONCE) {
          // Separate accounts: jobs of one account take turns.
          const account = `account-${lane}`;
          await clients.create({
            account,
            keyId: account,
            task: 'predict',
            source: '{"object":"a"}',
            parameters: '{}',
          });
        }
      }),
    );
    const insertsPerS = rateOf(jobs, startedMs);
    startedMs = performance.now();
    let done = 0;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let work = await workTable.take(); work !== undefined; work = await workTable.take()) {
          await workTable.succeed(work, { result: '{}', audioS: 1 });
          done++;
        }
      }),
    );
    if (done !== jobs) throw new Error(`${done} of ${jobs} jobs were done.`);
    return { database: name, jobs, atOnce: AT_ONCE, insertsPerS, claimsPerS: rateOf(jobs, startedMs) };
  } finally {
    await database.close();
  }
}

/** Jobs per second that one process puts into the queue, and takes and finishes. */
export async function queueRates(folder: string, jobs: number): Promise<QueueRates[]> {
  const sqlite = new SqliteDatabase(path.join(folder, 'rates.db'), { pollMs: 250 });
  const ofSqlite = await measure('SQLite', sqlite, jobs);
  // Durable, unlike in tests.
  const postgres = await startPostgres({ fsync: 'on', shared_buffers: '128MB' });
  try {
    const url = await postgres.createDatabase();
    return [ofSqlite, await measure('PostgreSQL', postgresAt(url, AT_ONCE), jobs)];
  } finally {
    await postgres.remove();
  }
}
