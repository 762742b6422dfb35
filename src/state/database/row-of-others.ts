// SPDX-License-Identifier: Apache-2.0
import { type Conditions, placesFor } from './conditions.js';
import type { Queries } from './database.js';

/**
 * Whether a row with these conditions is of none of these accounts. An index that begins with the account answers it with one look
 * for each of them, however many rows they have.
 */
export async function hasRowOfOthers(
  queries: Queries,
  table: string,
  { where, values }: Conditions,
  accounts: readonly string[],
): Promise<boolean> {
  // The first other account follows one of these, or is the first of all.
  const known = ['', ...accounts];
  const first = values.length + 1;
  const rows = await queries.query(
    `SELECT account FROM (SELECT (SELECT account FROM ${table} ${where} AND account > known.column1 ` +
      `ORDER BY account LIMIT 1) AS account FROM (VALUES ${known.map((_, i) => `($${first + i})`).join(', ')}) AS known) AS next ` +
      `WHERE account NOT IN (${placesFor(known, first)}) LIMIT 1`,
    [...values, ...known],
  );
  return rows.length > 0;
}

/**
 * Leaves rows of other accounts only. Asks first whether there is one: in the order of a queue, a hundred thousand rows of these accounts may
 * come before it.
 * @returns false if there is none
 */
export async function onlyOthers(
  queries: Queries,
  table: string,
  conditions: Conditions,
  accounts: readonly string[],
): Promise<boolean> {
  if (accounts.length === 0) return true;
  if (!(await hasRowOfOthers(queries, table, conditions, accounts))) return false;
  conditions.add((n) => `account NOT IN (${placesFor(accounts, n)})`, ...accounts);
  return true;
}
