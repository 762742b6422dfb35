// SPDX-License-Identifier: Apache-2.0
//
// Counts in files: from versions without a database, or not yet added to it. A file is one batch, and named by its id.
import fs from 'node:fs';
import path from 'node:path';
import { dayOfFile } from '../data-folder/days.js';
import { namesIn } from '../data-folder/durable-file.js';
import { formatVersion, NewerFormatError } from '../data-folder/format-version.js';
import { refuseEarlierPrograms, setAside } from '../data-folder/moved-files.js';
import { counts, type UsageBatch, type UsageLedger, type UsageRow } from './usage-ledger.js';

/** Of the files. */
export const USAGE_VERSION = 1;

/** Earlier programs read names that begin with a day. */
const MARKER = '0000-00-00.moved-to-database.json';

const earlierFolder = (dataDir: string): string => path.join(dataDir, 'usage');

/** Exists once files of earlier versions were taken over; remaining ones are damaged. */
export const markerIn = (dataDir: string): string => path.join(earlierFolder(dataDir), MARKER);

/** Counts that wait for a database that does not answer. */
export const unsentFolder = (dataDir: string): string => path.join(dataDir, 'unsent-usage');

/** Files of earlier versions that are not in the database. */
export const usageFilesIn = (dataDir: string): string[] => filesIn(earlierFolder(dataDir));

/**
 * Adds the counts of files to the database, once, however often it is repeated. Damaged files stay in place.
 * @param onDamaged told of each of them
 */
export async function takeOverUsageFiles(
  dataDir: string,
  ledger: UsageLedger,
  onDamaged: (error: unknown) => void,
): Promise<void> {
  refuseEarlierPrograms(markerIn(dataDir));
  for (const file of usageFilesIn(dataDir)) await addFile(file, ledger, () => setAside([file]), onDamaged);
}

/** The same for counts that an earlier run of the server has left. For its next run only: files of a running one still grow. */
export async function addUnsentUsage(
  dataDir: string,
  ledger: UsageLedger,
  onDamaged: (error: unknown) => void,
): Promise<void> {
  const remove = (file: string): void => fs.rmSync(file, { force: true });
  for (const file of filesIn(unsentFolder(dataDir)))
    await addFile(file, ledger, () => remove(file), onDamaged);
}

async function addFile(
  file: string,
  ledger: UsageLedger,
  done: () => void,
  onDamaged: (error: unknown) => void,
): Promise<void> {
  let batch: UsageBatch;
  try {
    batch = readUsageFile(file);
  } catch (error) {
    onDamaged(error);
    return;
  }
  await ledger.add(batch);
  done();
}

const filesIn = (folder: string): string[] =>
  namesIn(folder)
    .filter((name) => name.endsWith('.json') && name !== MARKER && dayOfFile(name) !== undefined)
    .map((name) => path.join(folder, name));

/** Half a file bills nobody. @throws Error that names the file, if it is damaged */
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
