// SPDX-License-Identifier: Apache-2.0

import type { DatabaseSettings } from '../database/open-database.js';
import { clientSettings } from '../database/postgres-settings.js';
import type { JobQueue } from './job-queue.js';
import { SqliteJobQueue } from './sqlite-job-queue.js';

/**
 * The queue that goes with the database of the same settings, which must be open.
 * @param onError of the upkeep of the queue, which goes on
 */
export async function openJobQueue(
  { database, databaseCaFile }: DatabaseSettings,
  onError: (error: unknown) => void,
): Promise<JobQueue> {
  if (database === undefined) return new SqliteJobQueue();
  const { PgBossJobQueue } = await import('./pg-boss-job-queue.js');
  return PgBossJobQueue.open(clientSettings(database, databaseCaFile), onError);
}
