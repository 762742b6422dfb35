// SPDX-License-Identifier: Apache-2.0
import { setImmediate as nextTick } from 'node:timers/promises';

/** Yields to the event loop, which serves both sides in tests with a server, until it is so. */
export async function until(isSo: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 120_000;
  while (!isSo()) {
    if (performance.now() > deadlineMs) throw new Error(`Not within 120 s: ${isSo}`);
    await nextTick();
  }
}
