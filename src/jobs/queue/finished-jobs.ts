// SPDX-License-Identifier: Apache-2.0
import type { Database, Queries, Value } from '../../state/database/database.js';
import { inPieces, ROWS_AT_ONCE, skipLocked } from '../../state/database/pieces.js';

const DAY_MS = 86_400_000;
/** After the end of a job. */
const SPARED_MS = 3_600_000;

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
      await this.#remove('finished_at_ms >= $1 AND finished_at_ms < $2', [startMs, startMs + DAY_MS]);
    }
  }

  /**
   * Removes the ones of an account that ended first, as long as it has more than `max`, but none that has just ended: its client has
   * not read it yet. Lines of batches do not count: those of unfinished batches are limited, and others go soon.
   * @throws DatabaseError
   */
  async keepNewest(account: string, max: number): Promise<void> {
    const [oldestKept] = await this.#database.query<{ finished_at_ms: number }>(
      'SELECT finished_at_ms FROM jobs WHERE account = $1 AND batch_id IS NULL AND finished_at_ms IS NOT NULL ' +
        'ORDER BY finished_at_ms DESC LIMIT 1 OFFSET $2',
      [account, max - 1],
    );
    if (oldestKept === undefined) return;
    // By time and not by number: others may remove the same ones, and retries begin anew with some.
    const endMs = Math.min(oldestKept.finished_at_ms, Date.now() - SPARED_MS);
    await this.#remove('account = $1 AND finished_at_ms < $2', [account, endMs]);
  }

  async #remove(condition: string, values: readonly Value[]): Promise<void> {
    const over = `${condition} AND batch_id IS NULL`;
    const batches = await this.#database.query<{ id: string }>(
      `SELECT id FROM jobs WHERE ${over} AND task = 'batch'`,
      values,
    );
    // One that was cancelled has its lines until a worker has removed them.
    for (const { id } of batches) await removeInPieces(this.#database, 'batch_id = $1', [id]);
    await removeInPieces(this.#database, over, values);
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
