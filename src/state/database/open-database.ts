// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../../base/config/options.js';
import { makeDataFolder } from '../data-folder/data-folder.js';
import { refuseEarlierFiles } from '../data-folder/earlier-files.js';
import { refuseIncompleteRestore } from '../data-folder/restore-mark.js';
import type { Database, Dialect } from './database.js';
import { countPending, migrate } from './migrate.js';
import { migrations } from './migrations/migrations.js';
import { sqliteFailure } from './sqlite-failure.js';

export type DatabaseSettings = Pick<
  Config,
  'dataDir' | 'database' | 'databaseCaFile' | 'databaseConnections'
>;

export const databaseFile = (dataDir: string): string => path.join(dataDir, 'veravox.db');

/**
 * Opens the database that the settings name, with its tables as this program needs them. Without settings that is a file in
 * the data folder, which is made if it is missing.
 * @throws EarlierDataFolder, IncompleteRestore, DatabaseError, ForeignTables
 */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const database = await openAsItIs(settings);
  try {
    await migrate(database, migrations);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Opens it for one command. Only a start updates tables: a server of the earlier version may still use them.
 * @throws EarlierDataFolder, IncompleteRestore, DatabaseError, ForeignTables, EarlierTables
 */
export async function withDatabase<Result>(
  settings: DatabaseSettings,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = (await openUnchanged(settings)) ?? (await openDatabase(settings));
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/**
 * Opens it with the tables of any version.
 * @throws EarlierDataFolder, IncompleteRestore, DatabaseError
 */
export async function openAsItIs(settings: DatabaseSettings): Promise<Database> {
  refuseEarlierFiles(settings.dataDir);
  refuseIncompleteRestore(settings.dataDir);
  return connect(settings);
}

/** Both bindings take time to load: only the one that is used. */
async function connect(settings: DatabaseSettings): Promise<Database> {
  const { dataDir, database: address, databaseCaFile, databaseConnections } = settings;
  if (address === undefined) {
    makeDataFolder(dataDir);
    const { SqliteDatabase } = await import('./sqlite-database.js');
    return new SqliteDatabase(databaseFile(dataDir));
  }
  const { clientSettings } = await import('./postgres-settings.js');
  const { PostgresDatabase } = await import('./postgres-database.js');
  return new PostgresDatabase(clientSettings(address, databaseCaFile), databaseConnections);
}

/**
 * Looks at the database without changing it.
 * @returns the finding, for people
 * @throws Error that names the fault
 */
export async function inspectDatabase(settings: DatabaseSettings): Promise<string> {
  refuseIncompleteRestore(settings.dataDir);
  const file = databaseFile(settings.dataDir);
  if (settings.database === undefined && !fs.existsSync(file)) {
    return `SQLite: ${file} (will be created at the first start)`;
  }
  const database = await connect(settings);
  try {
    const [row] = await database.query<{ version: string }>(versionQueries[database.dialect]);
    const steps = await countPending(database, migrations);
    if (database.dialect === 'sqlite') await checkPages(database);
    const tables = steps === 0 ? 'tables up to date' : 'the next start will update its tables';
    return `${row?.version}: ${database.name}, ${tables}`;
  } finally {
    await database.close();
  }
}

const versionQueries: Readonly<Record<Dialect, string>> = {
  sqlite: "SELECT 'SQLite ' || sqlite_version() AS version",
  postgres: "SELECT 'PostgreSQL ' || current_setting('server_version') AS version",
};

async function checkPages(database: Database): Promise<void> {
  const [row] = await database.query<{ quick_check: string }>('PRAGMA quick_check(1)');
  if (row?.quick_check !== 'ok') throw sqliteFailure(database.name, 'SQLITE_CORRUPT', row?.quick_check ?? '');
}

/** Only a start updates them, and only a backup copies them. */
export class EarlierTables extends Error {
  override readonly name = 'EarlierTables';

  constructor(database: string) {
    super(
      `The database ${database} is of an earlier version: use the commands of that version. The first start of a server ` +
        'of this version updates its tables, and earlier programs then refuse it (docs/upgrade.md).',
    );
  }
}

/**
 * Opens it without changing it.
 * @returns undefined if it does not exist yet, or has no tables
 * @throws EarlierDataFolder, IncompleteRestore, DatabaseError, ForeignTables, EarlierTables
 */
export async function openUnchanged(settings: DatabaseSettings): Promise<Database | undefined> {
  refuseEarlierFiles(settings.dataDir);
  refuseIncompleteRestore(settings.dataDir);
  if (settings.database === undefined && !fs.existsSync(databaseFile(settings.dataDir))) return undefined;
  const database = await connect(settings);
  try {
    const steps = await countPending(database, migrations);
    if (steps === 0) return database;
    if (steps < migrations.length) throw new EarlierTables(database.name);
  } catch (error) {
    await database.close();
    throw error;
  }
  await database.close();
  return undefined;
}
