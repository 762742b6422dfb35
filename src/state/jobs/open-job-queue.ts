// SPDX-License-Identifier: Apache-2.0
import type { Database } from '../database/database.js';
import type { DatabaseSettings } from '../database/open-database.js';
import { type JobQueue, RETRY_DELAY_S } from './job-queue.js';
import { SqliteJobQueue } from './sqlite-job-queue.js';

/**
 * The queue that goes with the database.
 * @param open the database of the same settings
 * @param onError of the upkeep of the queue, which goes on
 * @param homes whose jobs this process may add
 */
export async function openJobQueue(
  open: Database,
  { database, databaseCaFile }: DatabaseSettings,
  onError: (error: unknown) => void,
  homes: readonly string[] = [],
): Promise<JobQueue> {
  if (database === undefined) return new SqliteJobQueue();
  // Loaded only where they are used: each start would be slower by a tenth.
  const { clientSettings } = await import('../database/postgres-settings.js');
  const { PgBossJobQueue } = await import('./pg-boss-job-queue.js');
  // Its first start makes tables, and deadlocks with that of another host.
  return open.transaction(
    () => PgBossJobQueue.open(clientSettings(database, databaseCaFile), onError, RETRY_DELAY_S, homes),
    { lock: 'start of the job queue', isLong: true },
  );
}
