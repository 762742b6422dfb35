// SPDX-License-Identifier: Apache-2.0
import { type DatabaseSettings, databaseFile, openUnchanged } from '../state/database/open-database.js';
import { KeyTable } from '../state/keys/key-table.js';

/**
 * Whether the data folder has a SQLite database with keys although the settings name a PostgreSQL database: somebody may have
 * forgotten to copy it.
 * @returns its file
 */
export async function databaseLeftBehind(settings: DatabaseSettings): Promise<string | undefined> {
  if (settings.database === undefined) return undefined;
  const left = await openUnchanged({ ...settings, database: undefined });
  if (left === undefined) return undefined;
  try {
    return (await new KeyTable(left).isEmpty()) ? undefined : databaseFile(settings.dataDir);
  } finally {
    await left.close();
  }
}
