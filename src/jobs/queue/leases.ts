// SPDX-License-Identifier: Apache-2.0
import type { Database, Dialect, Row, Value } from '../../state/database/database.js';
import { nowMs } from '../../state/database/now-ms.js';
import { type Job, WorkLost } from './job.js';

/** Tries of a job before it fails for good. */
export const MAX_TRIES = 5;
/** Before the second try; doubled before each further one. */
export const RETRY_DELAY_MS = 5000;

/** The pause after a failed try. */
export const pauseAfterMs = (tries: number, firstMs = RETRY_DELAY_MS): number => firstMs * 2 ** (tries - 1);

/** Work without a sign of life for so long is free for others. */
export const LEASE_MS = 30_000;
/** A connection without an answer for so long is given up, and the lease renewed on a new one. */
export const RENEWAL_TIMEOUT_MS = 5000;

/**
 * Of a lease: in it, workers that live renew theirs. Over a connection that is dead, a new one that is slow and the next beat, that takes
 * them 22 s of 30.
 */
const graceShare: Readonly<Record<Dialect, number>> = { sqlite: 1 / 8, postgres: 3 / 4 };

/**
 * Tells dead workers from live ones whose leases are over as well: those of all end at once if the database stood still, or if its
 * clock was set.
 */
export class OverdueLeases {
  readonly #database: Database;
  readonly #leaseMs: number;
  readonly #graceMs: number;
  #sinceMs: ReadonlyMap<string, number> = new Map();

  constructor(database: Database, leaseMs: number) {
    this.#database = database;
    this.#leaseMs = leaseMs;
    this.#graceMs = leaseMs * graceShare[database.dialect];
  }

  /** @param select all rows in hand, holders included; ends with a condition @returns those of dead workers */
  async dead<Held extends Row & { readonly holder: string }>(select: string): Promise<Held[]> {
    const values: Value[] = [];
    const overdue = await this.#database.query<Held>(`${select} AND ${this.isOver(values)}`, values);
    const atMs = performance.now();
    const sinceMs = new Map(overdue.map(({ holder }) => [holder, this.#sinceMs.get(holder) ?? atMs]));
    this.#sinceMs = sinceMs;
    return overdue.filter(({ holder }) => atMs - (sinceMs.get(holder) ?? atMs) >= this.#graceMs);
  }

  /** The condition of rows whose leases are over; its value is added to those of the statement. */
  isOver(values: Value[]): string {
    const now = nowMs[this.#database.dialect];
    // Longer ones than there are come from before the clock was set back.
    return `(leased_until_ms < ${now} OR leased_until_ms > ${now} + $${values.push(2 * this.#leaseMs)})`;
  }
}

/** Work that was taken from dead workers. */
export interface Reaped {
  readonly taken: number;
  /** Tried too often. */
  readonly failed: readonly Job[];
}

/** Ends the tries of dead workers. @param fail as in the tables of work */
export async function endTries<Work extends { readonly job: Job }>(
  dead: readonly Work[],
  fail: (work: Work) => Promise<boolean>,
): Promise<Reaped> {
  const failed: Job[] = [];
  let taken = 0;
  for (const work of dead) {
    try {
      if (!(await fail({ ...work, isOverdue: true }))) failed.push(work.job);
      taken++;
    } catch (error) {
      if (!(error instanceof WorkLost)) throw error;
    }
  }
  return { taken, failed };
}
