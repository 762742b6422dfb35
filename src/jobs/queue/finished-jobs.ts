// SPDX-License-Identifier: Apache-2.0
import { placesFor } from '../../state/database/conditions.js';
import type { Database, Queries, Value } from '../../state/database/database.js';
import { inPieces, ROWS_AT_ONCE, skipLocked } from '../../state/database/pieces.js';

const DAY_MS = 86_400_000;

/** Jobs that are over. Lines of batches stay and go with their batch. */
export class FinishedJobs {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The UTC days of their ends. @throws DatabaseError */
  async days(): Promise<string[]> {
    const days: string[] = [];
    // One look into the index for each day: all jobs may be very many.
    for (let fromMs = 0; ; ) {
      const [first] = await this.#database.query<{ finished_at_ms: number }>(
        'SELECT finished_at_ms FROM jobs WHERE finished_at_ms >= $1 AND batch_id IS NULL ORDER BY finished_at_ms LIMIT 1',
        [fromMs],
      );
      if (first === undefined) return days;
      const day = Math.floor(first.finished_at_ms / DAY_MS);
      days.push(new Date(day * DAY_MS).toISOString().slice(0, 10));
      fromMs = (day + 1) * DAY_MS;
    }
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
      // One that was cancelled has its lines until a worker has removed them.
      for (const { id } of batches) await removeInPieces(this.#database, 'batch_id = $1', [id]);
      await removeInPieces(this.#database, over, ofDay);
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
          `ORDER BY created_at_ms, id LIMIT ${Math.min(surplus, ROWS_AT_ONCE)}`,
        [account],
      );
      if (oldest.length === 0) return;
      // The lines of a batch may be all that is too much.
      const batchAt = oldest.findIndex(({ task }) => task === 'batch');
      const ids = oldest.slice(0, batchAt < 0 ? undefined : batchAt + 1).map(({ id }) => id);
      if (batchAt >= 0) surplus -= await removeInPieces(this.#database, 'batch_id = $1', ids.slice(-1));
      await this.#database.execute(`DELETE FROM jobs WHERE id IN (${placesFor(ids)})`, ids);
      surplus -= ids.length;
    }
  }
}

/** Removes jobs with all that belongs to them. @returns how many */
export function removeInPieces(
  database: Queries,
  condition: string,
  values: readonly Value[],
): Promise<number> {
  const some = `SELECT id FROM jobs WHERE ${condition} LIMIT ${ROWS_AT_ONCE}${skipLocked[database.dialect]}`;
  return inPieces(() => database.execute(`DELETE FROM jobs WHERE id IN (${some})`, values));
}
