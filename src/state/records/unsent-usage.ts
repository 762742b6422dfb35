// SPDX-License-Identifier: Apache-2.0
//
// Counts in files that the database has not taken yet. A file is one batch, and named by its id.
import fs from 'node:fs';
import path from 'node:path';
import { dayOfFile } from '../data-folder/days.js';
import { namesIn } from '../data-folder/durable-file.js';
import { formatVersion, NewerFormatError } from '../data-folder/format-version.js';
import { counts, type UsageBatch, type UsageRow, type UsageTable } from './usage-table.js';

/** Of the files. */
export const USAGE_VERSION = 1;

/** Of counts that wait for a database to answer. */
export const unsentFolder = (dataDir: string): string => path.join(dataDir, 'unsent-usage');

/**
 * Adds the counts that an earlier run of the server has left to the database, once, however often it is repeated. For its next
 * run only: files of a running one still grow. Damaged files stay.
 * @param onDamaged told of each of them
 */
export async function addUnsentUsage(
  dataDir: string,
  usageTable: UsageTable,
  onDamaged: (error: unknown) => void,
): Promise<void> {
  const folder = unsentFolder(dataDir);
  for (const name of namesIn(folder)) {
    if (!name.endsWith('.json') || dayOfFile(name) === undefined) continue;
    const file = path.join(folder, name);
    let batch: UsageBatch;
    try {
      batch = readUsageFile(file);
    } catch (error) {
      onDamaged(error);
      continue;
    }
    await usageTable.add(batch);
    fs.rmSync(file, { force: true });
  }
}

/** Nobody is billed by half of a file. @throws Error that names the file, if it is damaged */
export function readUsageFile(file: string): UsageBatch {
  const id = path.basename(file, '.json');
  try {
    const content = JSON.parse(fs.readFileSync(file, 'utf8')) as { rows: unknown[] };
    formatVersion(content, USAGE_VERSION);
    const { rows } = content;
    if (!rows.every(isRow)) throw new Error('A row lacks a count.');
    return { id, day: dayOfFile(id) ?? id, rows };
  } catch (error) {
    if (error instanceof NewerFormatError) {
      throw new Error(`The usage file ${file} cannot be read: ${error.message}`, { cause: error });
    }
    throw new Error(
      `The usage file ${file} is damaged: ${(error as Error).message} Restore it, or delete it to drop its counts.`,
      { cause: error },
    );
  }
}

function isRow(value: unknown): value is UsageRow {
  const row = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return (
    ['keyId', 'account', 'route'].every((name) => typeof row[name] === 'string') &&
    counts.every((name) => Number.isFinite(row[name]))
  );
}
