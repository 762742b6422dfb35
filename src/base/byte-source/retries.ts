// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';

const PAUSES_MS = [250, 1000, 4000, 10_000] as const;

/** Tries again after a while, as long as that can help: five times at most, over a quarter of a minute. */
export async function withRetries(
  work: () => Promise<void>,
  canHelp: (error: unknown) => boolean,
  signal: AbortSignal,
  pausesMs: readonly number[] = PAUSES_MS,
): Promise<void> {
  for (const pauseMs of pausesMs) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!canHelp(error)) throw error;
    }
    // Spread, so that many readers do not come back at once.
    await delay(pauseMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
  return work();
}
