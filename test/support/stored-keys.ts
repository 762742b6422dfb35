// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import type { DatabaseSettings } from '../../src/state/database/open-database.js';
import type { CreatedKey, NewKey, StoredKey } from '../../src/state/keys/api-key.js';
import { KeyRegistry } from '../../src/state/keys/key-registry.js';
import { withState } from '../../src/state/takeover/open-state.js';

/** SQLite in this folder. */
export const sqliteIn = (dataDir: string): DatabaseSettings => ({
  dataDir,
  database: undefined,
  databaseCaFile: '',
  databaseConnections: 1,
});

/** Makes a key while the data folder may be in use. */
export const createKey = (dataDir: string, wanted: NewKey): Promise<CreatedKey> =>
  withState(sqliteIn(dataDir), (database) => new KeyRegistry(database).create(wanted));

/** As in versions without a database. @returns the file */
export function writeKeyFile(dataDir: string, key: StoredKey): string {
  const file = path.join(dataDir, 'keys', `${key.id}.json`);
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  fs.writeFileSync(file, `${JSON.stringify({ version: 1, ...key }, undefined, 2)}\n`, { mode: 0o600 });
  return file;
}
