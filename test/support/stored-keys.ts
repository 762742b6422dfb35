// SPDX-License-Identifier: Apache-2.0
import type { Database } from '../../src/state/database/database.js';
import { type DatabaseSettings, withDatabase } from '../../src/state/database/open-database.js';
import type { CreatedKey, NewKey, StoredKey } from '../../src/state/keys/api-key.js';
import { addKey, KeyTable } from '../../src/state/keys/key-table.js';

/** SQLite in this folder. */
export const sqliteIn = (dataDir: string): DatabaseSettings => ({
  dataDir,
  database: undefined,
  databaseCaFile: '',
  databaseConnections: 1,
});

/** Makes a key while the data folder may be in use. */
export const createKey = (dataDir: string, wanted: NewKey): Promise<CreatedKey> =>
  withDatabase(sqliteIn(dataDir), (database) => new KeyTable(database).create(wanted));

/** Keys as they are, past what creation would make of them. */
export const storeKeys = (database: Database, keys: readonly StoredKey[]): Promise<void> =>
  database.transaction(async (transaction) => {
    for (const key of keys) await addKey(transaction, key);
  });
