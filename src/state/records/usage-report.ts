// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { dayOfFile } from '../data-folder/days.js';
import { formatVersion, NewerFormatError } from '../data-folder/format-version.js';
import { USAGE_VERSION, type UsageRow, usageDir } from './usage-meter.js';

export interface UsageFilter {
  readonly keyId?: string;
  readonly account?: string;
  /** First and last UTC day, both included: 2026-11-21. */
  readonly from?: string;
  readonly to?: string;
}

export type DayUsage = { readonly day: string } & Readonly<UsageRow>;

const counts = ['requests', 'errors', 'audioS', 'windows', 'bytes'] as const;

/** The usage of all servers that ever used this data folder: by day, then account, key and route. */
export function readUsage(dataDir: string, filter: UsageFilter = {}): DayUsage[] {
  const { keyId, account, from = '', to = '9999-12-31' } = filter;
  const sums = new Map<string, { day: string } & UsageRow>();
  for (const { day, file } of usageFiles(usageDir(dataDir))) {
    if (day < from || day > to) continue;
    for (const row of readRows(file)) {
      if (keyId !== undefined && row.keyId !== keyId) continue;
      if (account !== undefined && row.account !== account) continue;
      const name = [day, row.account, row.keyId, row.route].join(' ');
      const sum = sums.get(name);
      if (sum === undefined) sums.set(name, { day, ...row });
      else for (const count of counts) sum[count] += row[count];
    }
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

function usageFiles(dir: string): { day: string; file: string }[] {
  let names: string[];
  try {
    names = fs.readdirSync(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return names.flatMap((name) => {
    const day = dayOfFile(name);
    return day === undefined || !name.endsWith('.json') ? [] : [{ day, file: path.join(dir, name) }];
  });
}

/** Nobody is billed by half of a file: one that was damaged is an error that names it. */
function readRows(file: string): UsageRow[] {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    // A running server has just removed a day that is too old.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  try {
    const content = JSON.parse(text) as { rows: unknown[] };
    formatVersion(content, USAGE_VERSION);
    const { rows } = content;
    if (!rows.every(isRow)) throw new Error('A row lacks a count.');
    return rows;
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
