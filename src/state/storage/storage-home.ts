// SPDX-License-Identifier: Apache-2.0
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createFile, makeFolder } from '../data-folder/durable-file.js';
import { formatVersion } from '../data-folder/format-version.js';

/** Of the file. */
const VERSION = 1;

/**
 * Tells the stored objects of one data folder from those of others: hosts with the same database may have folders of their own.
 * Made at the first start, in `<dataDir>/storage-id.json`, which belongs to the folder as `objects` does and is not shared.
 * @throws Error that names the file when it is damaged
 */
export function homeOfFolder(dataDir: string): string {
  const file = path.join(dataDir, 'storage-id.json');
  if (!fs.existsSync(file)) {
    makeFolder(dataDir);
    // If another process was faster, its id is taken.
    createFile(file, `${JSON.stringify({ version: VERSION, id: randomUUID() })}\n`);
  }
  try {
    const value = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>;
    formatVersion(value, VERSION);
    if (typeof value.id !== 'string' || !/^[0-9a-f-]{36}$/.test(value.id)) throw new Error('Expected an id.');
    return value.id;
  } catch (error) {
    throw new Error(`The name of the stored files in ${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** The same for a bucket, which all hosts call by one name. */
export const homeOfBucket = (bucket: string): string =>
  createHash('sha256').update(`bucket ${bucket}`).digest('hex').slice(0, 32);
