// SPDX-License-Identifier: Apache-2.0

const FIRST_MS = 100;
const LARGEST_MS = 30_000;
/** A process that ran this long did not fail because of its start. */
const HEALTHY_MS = 60_000;

/** The pause before a failed process is started again: twice as long each time it fails soon. */
export class BackOff {
  #nextMs = FIRST_MS;

  /** @param livedMs how long it ran before it failed */
  delayMs(livedMs: number): number {
    if (livedMs >= HEALTHY_MS) this.#nextMs = FIRST_MS;
    const delayMs = this.#nextMs;
    this.#nextMs = Math.min(LARGEST_MS, delayMs * 2);
    return delayMs;
  }
}
