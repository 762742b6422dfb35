// SPDX-License-Identifier: Apache-2.0
import { placesFor } from '../../state/database/conditions.js';
import type { Database, Value } from '../../state/database/database.js';

const DAY_MS = 86_400_000;

/** Jobs that are over. Lines of batches stay and go with their batch. */
export class FinishedJobs {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The UTC days of their ends. @throws DatabaseError */
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

  /**
   * Removes the oldest ones of an account as long as it has more jobs than `max`, unfinished ones and lines of batches included.
   * @throws DatabaseError
   */
  async keepNewest(account: string, max: number): Promise<void> {
    const [row] = await this.#database.query<{ jobs: number }>(
      'SELECT COUNT(*) AS jobs FROM jobs WHERE account = $1',
      [account],
    );
    for (let surplus = (row?.jobs ?? 0) - max; surplus > 0; ) {
      const oldest = await this.#database.query<{ id: string; task: string }>(
        'SELECT id, task FROM jobs WHERE account = $1 AND batch_id IS NULL AND finished_at_ms IS NOT NULL ' +
          `ORDER BY created_at_ms, id LIMIT ${Math.min(surplus, REMOVED_AT_ONCE)}`,
        [account],
      );
      if (oldest.length === 0) return;
      // The lines of a batch may be all that is too much.
      const batchAt = oldest.findIndex(({ task }) => task === 'batch');
      const ids = oldest.slice(0, batchAt < 0 ? undefined : batchAt + 1).map(({ id }) => id);
      if (batchAt >= 0) surplus -= await removeInParts(this.#database, 'batch_id = $1', ids.slice(-1));
      await this.#database.execute(`DELETE FROM jobs WHERE id IN (${placesFor(ids)})`, ids);
      surplus -= ids.length;
    }
  }
}

const REMOVED_AT_ONCE = 1000;

/**
 * Removes jobs with all that belongs to them. A single statement for very many would hold up everybody else on SQLite, and run out of time
 * on PostgreSQL.
 * @returns how many
 */
export async function removeInParts(
  database: Pick<Database, 'execute'>,
  condition: string,
  values: readonly Value[],
): Promise<number> {
  const sql = `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE ${condition} LIMIT ${REMOVED_AT_ONCE})`;
  let all = 0;
  for (let removed = -1; removed !== 0; all += removed) removed = await database.execute(sql, values);
  return all;
}
