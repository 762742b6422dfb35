// SPDX-License-Identifier: Apache-2.0
import type { Database, Value } from '../../state/database/database.js';

const DAY_MS = 86_400_000;

/** Jobs that are over, by the UTC days of their ends. Lines of batches stay and go with their batch. */
export class FinishedJobs {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws DatabaseError */
  async days(): Promise<string[]> {
    const rows = await this.#database.query<{ day: number }>(
      `SELECT DISTINCT finished_at_ms / ${DAY_MS} AS day FROM jobs WHERE finished_at_ms IS NOT NULL AND batch_id IS NULL`,
    );
    return rows.map(({ day }) => new Date(day * DAY_MS).toISOString().slice(0, 10));
  }

  /** With their results. @throws DatabaseError */
  async removeDays(days: readonly string[]): Promise<void> {
    for (const day of days) {
      const startMs = Date.parse(day);
      const over = 'finished_at_ms >= $1 AND finished_at_ms < $2 AND batch_id IS NULL';
      const ofDay = [startMs, startMs + DAY_MS];
      const batches = await this.#database.query<{ id: string }>(
        `SELECT id FROM jobs WHERE ${over} AND task = 'batch'`,
        ofDay,
      );
      // One that was cancelled still has all its lines.
      for (const { id } of batches) await removeInParts(this.#database, 'batch_id = $1', [id]);
      await removeInParts(this.#database, over, ofDay);
    }
  }
}

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
