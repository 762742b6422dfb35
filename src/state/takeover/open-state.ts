// SPDX-License-Identifier: Apache-2.0
//
// This room opens the database and moves the files of earlier versions into it, once.
import fs from 'node:fs';
import path from 'node:path';
import { isDataFolderInUse, makeDataFolder } from '../data-folder/data-folder.js';
import { locked } from '../data-folder/file-lock.js';
import type { Database } from '../database/database.js';
import { type DatabaseSettings, openDatabase } from '../database/open-database.js';
import { keyFilesIn, takeOverKeyFiles } from '../keys/key-files.js';
import { KeyRegistry } from '../keys/key-registry.js';
import { earlierPointFile, takeOverPointFile } from '../operating-points/operating-point-file.js';
import { OperatingPointRegistry } from '../operating-points/operating-point-registry.js';
import { addUnsentUsage, markerIn, takeOverUsageFiles, usageFilesIn } from '../records/usage-files.js';
import { UsageLedger } from '../records/usage-ledger.js';

/** The data folder has files of an earlier version, whose server still works with them. */
export class EarlierServerRuns extends Error {
  override readonly name = 'EarlierServerRuns';
}

/**
 * Opens the database, and puts what earlier versions kept in files into it, once.
 * @param isOwner whether this process is the server that has the data folder for its own
 * @param onDamaged told of files that are left where they are; keys that are damaged are an error
 * @throws EarlierServerRuns, DatabaseError, ForeignTables, or an error that names a damaged file
 */
export async function openState(
  settings: DatabaseSettings,
  isOwner: boolean,
  onDamaged: (error: unknown) => void = () => {},
): Promise<Database> {
  const { dataDir } = settings;
  makeDataFolder(dataDir);
  if (!isOwner && hasEarlierFiles(dataDir) && isDataFolderInUse(dataDir)) {
    throw new EarlierServerRuns(
      `The server in ${dataDir} is of an earlier version, or has just been started: restart it, or try again.`,
    );
  }
  const database = await openDatabase(settings);
  try {
    await locked(path.join(dataDir, 'takeover.lock'), async () => {
      await takeOverKeyFiles(dataDir, new KeyRegistry(database));
      await takeOverPointFile(dataDir, new OperatingPointRegistry(database));
      const ledger = new UsageLedger(database);
      await takeOverUsageFiles(dataDir, ledger, onDamaged);
      if (isOwner) await addUnsentUsage(dataDir, ledger, onDamaged);
    });
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

function hasEarlierFiles(dataDir: string): boolean {
  const hasUsage = !fs.existsSync(markerIn(dataDir)) && usageFilesIn(dataDir).length > 0;
  return hasUsage || keyFilesIn(dataDir).length > 0 || earlierPointFile(dataDir) !== undefined;
}

/** Opens it for one command. */
export async function withState<Result>(
  settings: DatabaseSettings,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await openState(settings, false);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
