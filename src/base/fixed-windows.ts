// SPDX-License-Identifier: Apache-2.0

/** State of a window after one more event. */
export interface WindowState {
  /** Events that still fit into the window. */
  readonly remaining: number;
  /** This event was one too many. */
  readonly isExceeded: boolean;
  /** Time until the window ends. */
  readonly leftMs: number;
}

/** Counts events by name, in windows of the same length that begin with the first event of their name. In memory only. */
export class FixedWindows {
  readonly #maxEvents: number;
  readonly #lengthMs: number;
  readonly #nowMs: () => number;
  /** The window that ends first comes first. */
  readonly #windows = new Map<string, { readonly endsAtMs: number; events: number }>();

  /** @param nowMs a clock that nobody sets */
  constructor(maxEvents: number, lengthMs: number, nowMs: () => number = () => performance.now()) {
    this.#maxEvents = maxEvents;
    this.#lengthMs = lengthMs;
    this.#nowMs = nowMs;
  }

  /** Names that have a window now. */
  get size(): number {
    return this.#windows.size;
  }

  count(name: string): WindowState {
    const nowMs = this.#nowMs();
    for (const [ended, { endsAtMs }] of this.#windows) {
      if (endsAtMs > nowMs) break;
      this.#windows.delete(ended);
    }
    const window = this.#windows.get(name) ?? { endsAtMs: nowMs + this.#lengthMs, events: 0 };
    this.#windows.set(name, window);
    window.events++;
    return {
      remaining: Math.max(0, this.#maxEvents - window.events),
      isExceeded: window.events > this.#maxEvents,
      leftMs: window.endsAtMs - nowMs,
    };
  }
}
