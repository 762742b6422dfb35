// SPDX-License-Identifier: Apache-2.0

const FIRST_MS = 100;
const LARGEST_MS = 30_000;
/** What ran this long did not fail because of how it starts. */
const HEALTHY_MS = 60_000;

/** How long to wait before something that failed is started again: twice as long each time it fails soon. */
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
