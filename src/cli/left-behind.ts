// SPDX-License-Identifier: Apache-2.0
import type { Database } from '../state/database/database.js';
import {
  type DatabaseSettings,
  databaseFile,
  EarlierTables,
  openUnchanged,
} from '../state/database/open-database.js';
import { KeyTable } from '../state/keys/key-table.js';

/**
 * Whether the data folder has a SQLite database with keys although the settings name a PostgreSQL database: somebody may have
 * forgotten to copy it.
 * @returns its file
 */
export async function databaseLeftBehind(settings: DatabaseSettings): Promise<string | undefined> {
  if (settings.database === undefined) return undefined;
  const left = await openLeft(settings);
  if (left === undefined) return undefined;
  // A server has used it.
  if (left === 'earlier') return databaseFile(settings.dataDir);
  try {
    return (await new KeyTable(left).isEmpty()) ? undefined : databaseFile(settings.dataDir);
  } finally {
    await left.close();
  }
}

async function openLeft(settings: DatabaseSettings): Promise<Database | 'earlier' | undefined> {
  try {
    return await openUnchanged({ ...settings, database: undefined });
  } catch (error) {
    if (error instanceof EarlierTables) return 'earlier';
    throw error;
  }
}
