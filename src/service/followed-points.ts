// SPDX-License-Identifier: Apache-2.0
import { setTimeout as pause } from 'node:timers/promises';
import type { DamagedValue } from '../state/database/stored-json.js';
import type { OperatingPointTable } from '../state/operating-points/operating-point-table.js';
import type { OperatingPoints } from '../state/operating-points/operating-points.js';

type Table = Pick<OperatingPointTable, 'follow' | 'all' | 'revision'>;

export interface FollowedPointsOptions {
  /** Told of points that were saved after the start. */
  readonly onChange: (points: OperatingPoints) => void;
  /** Told of each new reason why they could not be read; known points stay. */
  readonly onError: (error: unknown) => void;
  /** Told of each damaged profile, whenever profiles are read. */
  readonly onDamaged: (error: DamagedValue) => void;
  readonly pollMs?: number;
  readonly pauseMs?: number;
}

/** Changes are announced; this is for announcements that got lost. */
const POLL_MS = 2000;
/** Between two readings: clients may change their profiles at will, and each time all routes are made anew. */
const PAUSE_MS = 250;

/** The operating points that a server uses. They follow the database. */
export class FollowedPoints {
  readonly #pointTable: Table;
  readonly #options: FollowedPointsOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #endFollowing: () => void;
  readonly #closing = new AbortController();
  #current: OperatingPoints;
  #revision: number;
  #nextAtMs = 0;
  #looking: Promise<void> | undefined;
  #isWantedAgain = false;
  #lastProblem = '';

  private constructor(
    pointTable: Table,
    current: OperatingPoints,
    revision: number,
    options: FollowedPointsOptions,
  ) {
    this.#pointTable = pointTable;
    this.#current = current;
    this.#revision = revision;
    this.#options = options;
    this.#endFollowing = pointTable.follow(() => void this.refresh());
    this.#timer = setInterval(() => void this.refresh(), options.pollMs ?? POLL_MS);
    this.#timer.unref();
  }

  /** @throws DatabaseError, Error that names a damaged point */
  static async open(pointTable: Table, options: FollowedPointsOptions): Promise<FollowedPoints> {
    // The revision first: a point that is saved in between is found again, not missed.
    const revision = await pointTable.revision();
    return new FollowedPoints(pointTable, await pointTable.all(options.onDamaged), revision, options);
  }

  get current(): OperatingPoints {
    return this.#current;
  }

  /** Looks now; resolves when points saved before this call are known, or cannot be. */
  refresh(): Promise<void> {
    this.#isWantedAgain = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  close(): void {
    this.#closing.abort();
    clearInterval(this.#timer);
    this.#endFollowing();
  }

  async #look(): Promise<void> {
    while (this.#isWantedAgain) {
      this.#isWantedAgain = false;
      try {
        await this.#read();
        this.#lastProblem = '';
      } catch (error) {
        const { message } = error as Error;
        if (message !== this.#lastProblem) this.#options.onError(error);
        this.#lastProblem = message;
      }
    }
  }

  async #read(): Promise<void> {
    if ((await this.#pointTable.revision()) === this.#revision) return;
    const { signal } = this.#closing;
    const waitMs = this.#nextAtMs - performance.now();
    if (waitMs > 0) await pause(waitMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const revision = await this.#pointTable.revision();
    const points = await this.#pointTable.all(this.#options.onDamaged);
    this.#nextAtMs = performance.now() + (this.#options.pauseMs ?? PAUSE_MS);
    this.#revision = revision;
    this.#current = points;
    this.#options.onChange(points);
  }
}
