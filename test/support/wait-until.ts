// SPDX-License-Identifier: Apache-2.0
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';

/** Long, because other work may have the machine. */
const LIMIT_MS = 120_000;
/** What needs only a few turns of this process is not kept waiting. */
const BUSY_MS = 5;
/** Leaves the processor to the other processes, which are what a test waits for if it waits for long. */
const PAUSE_MS = 4;

/** Asks until the answer is yes. @returns whether it was in time */
export async function waitUntil(isSo: () => boolean | Promise<boolean>): Promise<boolean> {
  const startMs = performance.now();
  while (!(await isSo())) {
    const waitedMs = performance.now() - startMs;
    if (waitedMs > LIMIT_MS) return false;
    await (waitedMs < BUSY_MS ? turn() : pause(PAUSE_MS));
  }
  return true;
}
