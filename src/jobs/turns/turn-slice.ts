// SPDX-License-Identifier: Apache-2.0

/** The turn ends here, at a checkpoint: others wait. Progress is saved, and another process goes on with it later. */
export class TurnOver extends Error {
  override readonly name = 'TurnOver';
}

export interface TurnLimits {
  /** Aborted if others are to go on with the work. */
  readonly stopping: AbortSignal;
  /** While other accounts wait. */
  readonly slice: TurnSlice;
}

export interface TurnSliceOptions {
  /** A turn is never shorter. */
  readonly sliceMs: number;
  /** Time without a checkpoint after which it is overdue. */
  readonly overdueMs: number;
  /** Asked after that: whether the place is wanted. If so, the turn ends. */
  readonly isWanted: () => boolean;
  readonly clockMs?: () => number;
}

/** The longest turn with one piece of work while others wait. */
export class TurnSlice {
  readonly #options: Required<TurnSliceOptions>;
  readonly #beganMs: number;
  #firstMs: number | undefined;
  /** Of the last checkpoint, or of the beginning. */
  #lastMs: number;

  constructor(options: TurnSliceOptions) {
    this.#options = { clockMs: () => performance.now(), ...options };
    this.#beganMs = this.#lastMs = this.#options.clockMs();
  }

  /** Call it after progress was saved. @throws TurnOver */
  checkpoint(): void {
    const { sliceMs, isWanted, clockMs } = this.#options;
    this.#lastMs = clockMs();
    const ageMs = this.#lastMs - this.#beganMs;
    this.#firstMs ??= ageMs;
    // Some work takes long to take up again: at least as much time goes into new work.
    if (ageMs >= Math.max(sliceMs, 2 * this.#firstMs) && isWanted()) throw new TurnOver('Others wait.');
  }

  /** Whether the turn must end without a checkpoint, because it does not come to one and others wait. */
  isOverdue(): boolean {
    const { overdueMs, isWanted, clockMs } = this.#options;
    return clockMs() - this.#lastMs >= overdueMs && isWanted();
  }
}
