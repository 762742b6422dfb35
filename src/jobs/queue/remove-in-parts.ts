// SPDX-License-Identifier: Apache-2.0
import type { Database, Value } from '../../state/database/database.js';

const REMOVED_AT_ONCE = 1000;

/**
 * Removes jobs with all that belongs to them. A single statement for very many would hold up everybody else on SQLite, and run out of time
 * on PostgreSQL.
 */
export async function removeInParts(
  database: Pick<Database, 'execute'>,
  condition: string,
  values: readonly Value[],
): Promise<void> {
  const sql = `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE ${condition} LIMIT ${REMOVED_AT_ONCE})`;
  let removed: number;
  do {
    removed = await database.execute(sql, values);
  } while (removed > 0);
}
