// SPDX-License-Identifier: Apache-2.0
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';

/** Long, because other work may occupy the machine. */
const LIMIT_MS = 120_000;
/** Conditions that need only a few turns of this process are polled without a pause. */
const BUSY_MS = 5;
/** Leaves the processor to the other processes that a longer wait depends on. */
const PAUSE_MS = 4;

/** Asks until the answer is yes. @returns false if time ran out */
export async function waitUntil(isSo: () => boolean | Promise<boolean>): Promise<boolean> {
  const startMs = performance.now();
  while (!(await isSo())) {
    const waitedMs = performance.now() - startMs;
    if (waitedMs > LIMIT_MS) return false;
    await (waitedMs < BUSY_MS ? turn() : pause(PAUSE_MS));
  }
  return true;
}
