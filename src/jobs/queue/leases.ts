// SPDX-License-Identifier: Apache-2.0
import type { Dialect } from '../../state/database/database.js';
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

/** @param n number of the parameter with twice the length of a lease: longer ones come from before the clock was set back */
export const isLeaseOver = (dialect: Dialect, n: number): string =>
  `(leased_until_ms < ${nowMs[dialect]} OR leased_until_ms > ${nowMs[dialect]} + $${n})`;

/**
 * Tells dead workers from live ones whose leases are over as well: those of all end at once if the database stood still, or if its
 * clock was set. The live ones renew theirs within this grace.
 */
export class OverdueLeases {
  readonly #graceMs: number;
  #sinceMs: ReadonlyMap<string, number> = new Map();

  constructor(leaseMs: number) {
    this.#graceMs = leaseMs / 8;
  }

  /** @param overdue all rows whose leases are over now @returns those of dead workers */
  dead<Row extends { readonly holder: string }>(overdue: readonly Row[]): Row[] {
    const atMs = performance.now();
    const sinceMs = new Map(overdue.map(({ holder }) => [holder, this.#sinceMs.get(holder) ?? atMs]));
    this.#sinceMs = sinceMs;
    return overdue.filter(({ holder }) => atMs - (sinceMs.get(holder) ?? atMs) >= this.#graceMs);
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
      if (!(await fail(work))) failed.push(work.job);
      taken++;
    } catch (error) {
      if (!(error instanceof WorkLost)) throw error;
    }
  }
  return { taken, failed };
}
