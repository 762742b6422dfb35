// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { syncFolder, TEMPORARY_SUFFIX } from '../data-folder/durable-file.js';
import type { Database } from './database.js';

/**
 * Writes a SQLite database, as it is at one moment, to a new file that outlives a power failure. Others may go on writing.
 * @throws Error when the file exists, or the database is PostgreSQL, which has its own tools
 */
export async function backUp(database: Database, file: string): Promise<void> {
  if (database.dialect === 'postgres') {
    throw new Error(`${database.name} is PostgreSQL: use its own tools, such as pg_dump --schema=veravox.`);
  }
  if (fs.existsSync(file)) throw new Error(`${file} exists already. Name a new file.`);
  const temporary = `${file}.${process.pid}${TEMPORARY_SUFFIX}`;
  try {
    // SQLite takes an empty file for a new one, and leaves its rights as they are.
    fs.closeSync(fs.openSync(temporary, 'wx', 0o600));
    await database.execute('VACUUM INTO $1', [temporary]);
    const descriptor = fs.openSync(temporary, 'r+');
    fs.fsyncSync(descriptor);
    fs.closeSync(descriptor);
    // Unlike a rename, a link never replaces a file put there meanwhile.
    fs.linkSync(temporary, file);
  } finally {
    fs.rmSync(temporary, { force: true });
  }
  syncFolder(path.dirname(file));
}
