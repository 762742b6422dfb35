// SPDX-License-Identifier: Apache-2.0
import type { Delivery } from '../queue/delivery.js';

/** Requests of an account to one origin at once, from one process. */
export const MAX_PER_DESTINATION = 4;

interface Destination {
  inFlight: number;
  /** Smoothed length of an attempt. */
  tookMs: number;
  /** The time by which postponed attempts will have had their turns. */
  freeAtMs: number;
}

const FIRST_GUESS_MS = 500;
const MIN_PAUSE_MS = 250;
/** Each pause is a change of the database: shorter ones would load it all the while with the backlog of a silent receiver. */
const MAX_PAUSE_MS = 15 * 60_000;
const SWEEP_MS = 60_000;

/** Keeps a slow receiver from taking the turns of an account's others, whatever other accounts send to the same one. */
export class Destinations {
  readonly #known = new Map<string, Destination>();
  readonly #nowMs: () => number;
  #sweptAtMs: number;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#sweptAtMs = nowMs();
  }

  /** Ones with requests in flight, or of a moment ago. */
  get size(): number {
    return this.#known.size;
  }

  /** @returns undefined if a request may begin, or for how long it should be put off */
  enter(delivery: Pick<Delivery, 'account' | 'url'>): number | undefined {
    const nowMs = this.#nowMs();
    this.#sweep(nowMs);
    const key = keyOf(delivery);
    const known = this.#known.get(key) ?? { inFlight: 0, tookMs: FIRST_GUESS_MS, freeAtMs: nowMs };
    this.#known.set(key, known);
    if (known.inFlight < MAX_PER_DESTINATION) {
      known.inFlight++;
      return undefined;
    }
    const freeAtMs = Math.max(nowMs, known.freeAtMs) + known.tookMs / MAX_PER_DESTINATION;
    known.freeAtMs = Math.min(nowMs + MAX_PAUSE_MS, freeAtMs);
    return Math.max(MIN_PAUSE_MS, known.freeAtMs - nowMs);
  }

  leave(delivery: Pick<Delivery, 'account' | 'url'>, tookMs: number): void {
    const known = this.#known.get(keyOf(delivery));
    if (known === undefined) return;
    known.inFlight--;
    known.tookMs += (tookMs - known.tookMs) / 4;
  }

  /** Knowledge of a destination stays while deliveries to it wait for their turn. */
  #sweep(nowMs: number): void {
    if (nowMs < this.#sweptAtMs + SWEEP_MS) return;
    this.#sweptAtMs = nowMs;
    for (const [key, { inFlight, freeAtMs }] of this.#known) {
      if (inFlight === 0 && freeAtMs <= nowMs) this.#known.delete(key);
    }
  }
}

const keyOf = ({ account, url }: Pick<Delivery, 'account' | 'url'>): string =>
  JSON.stringify([account, URL.canParse(url) ? new URL(url).origin : '']);
