// SPDX-License-Identifier: Apache-2.0
import type { Dialect } from './database.js';

/** At the end of a query for rows to take: it waits for none that others take at this moment. SQLite has one writer at a time. */
export const skipLocked: Readonly<Record<Dialect, string>> = {
  sqlite: '',
  postgres: ' FOR UPDATE SKIP LOCKED',
};

/** Rows of one statement of many. The result of a recording of an hour has 128 KiB. */
export const ROWS_AT_ONCE = 250;

/**
 * Changes very many rows, and lets other work go in between: a single statement would hold up everybody else on SQLite, and run out
 * of time on PostgreSQL.
 * @param change changes `ROWS_AT_ONCE` at most, and answers how many
 * @returns how many in all
 */
export async function inPieces(change: () => Promise<number>): Promise<number> {
  let all = 0;
  for (let changed = ROWS_AT_ONCE; changed >= ROWS_AT_ONCE; all += changed) changed = await change();
  return all;
}
