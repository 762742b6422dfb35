// SPDX-License-Identifier: Apache-2.0

/** Between two turns that are taken from requests. */
const MIN_INTERVAL_MS = 2000;
/** The pause after a turn, in durations of the turn: a twentieth of one thread's time. */
const PAUSE_PER_DURATION = 19;

/**
 * When background work gets a turn although others wait: it is never starved, and never takes more than a twentieth of one
 * thread's time from them.
 */
export class BackgroundShare {
  #running = 0;
  #dueMs = 0;

  isDue(nowMs = performance.now()): boolean {
    return this.#running === 0 && nowMs >= this.#dueMs;
  }

  /** For each turn, also if nobody else wanted it. */
  begin(): void {
    this.#running++;
  }

  end(durationMs: number, nowMs = performance.now()): void {
    this.#running--;
    this.#dueMs = nowMs + Math.max(MIN_INTERVAL_MS, PAUSE_PER_DURATION * durationMs);
  }
}
