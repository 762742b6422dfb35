// SPDX-License-Identifier: Apache-2.0

/** Requests to one destination at once, from one process. */
export const MAX_PER_DESTINATION = 4;

interface Destination {
  inFlight: number;
  /** Smoothed length of an attempt. */
  tookMs: number;
  /** When those that were put off will have had their turns. */
  freeAtMs: number;
}

const FIRST_GUESS_MS = 500;
const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 60_000;

/** Keeps a slow destination from taking the turns of others. */
export class Destinations {
  readonly #known = new Map<string, Destination>();
  readonly #nowMs: () => number;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** @returns undefined if a request may begin, or for how long it should be put off */
  enter(origin: string): number | undefined {
    const nowMs = this.#nowMs();
    const known = this.#known.get(origin) ?? { inFlight: 0, tookMs: FIRST_GUESS_MS, freeAtMs: nowMs };
    this.#known.set(origin, known);
    if (known.inFlight < MAX_PER_DESTINATION) {
      known.inFlight++;
      return undefined;
    }
    known.freeAtMs = Math.max(nowMs, known.freeAtMs) + known.tookMs / MAX_PER_DESTINATION;
    return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, known.freeAtMs - nowMs));
  }

  leave(origin: string, tookMs: number): void {
    const known = this.#known.get(origin);
    if (known === undefined) return;
    known.inFlight--;
    known.tookMs += (tookMs - known.tookMs) / 4;
    if (known.inFlight === 0 && known.freeAtMs <= this.#nowMs()) this.#known.delete(origin);
  }
}
