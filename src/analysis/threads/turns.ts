// SPDX-License-Identifier: Apache-2.0

/** How long after a change of owner more changes are expected. */
const REMEMBERED_MS = 5000;

/**
 * Knows whether several owners ask in turn. Only then does it pay to keep one owner's work from getting in the way of
 * the next: alone, an owner is served faster by full batches and a full pipeline.
 */
export class Turns {
  #lastOwner: string | undefined;
  #severalUntilMs = 0;

  /** Call it for each request. */
  note(owner: string, nowMs = performance.now()): void {
    if (this.#lastOwner !== undefined && owner !== this.#lastOwner)
      this.#severalUntilMs = nowMs + REMEMBERED_MS;
    this.#lastOwner = owner;
  }

  areSeveral(nowMs = performance.now()): boolean {
    return nowMs < this.#severalUntilMs;
  }
}
