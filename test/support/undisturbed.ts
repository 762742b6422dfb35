// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';

/**
 * Time since boot during which some thread waited for a processor. Undefined if the kernel does not count it
 * (https://docs.kernel.org/accounting/psi.html).
 */
function waitedMs(): number | undefined {
  try {
    const [, total] = /^some .*total=(\d+)$/m.exec(readFileSync('/proc/pressure/cpu', 'utf8')) ?? [];
    return total === undefined ? undefined : Number(total) / 1000;
  } catch {
    return undefined;
  }
}

/**
 * Measures how long something takes while no thread waits for a processor: other work on the machine can prolong it, but not this
 * time. On a machine that does not count this, the time is unknown, and so 0.
 */
export function undisturbedTime(): () => number {
  const beganMs = performance.now();
  const waitedBeforeMs = waitedMs();
  return () => {
    const waitedNowMs = waitedMs();
    if (waitedBeforeMs === undefined || waitedNowMs === undefined) return 0;
    return performance.now() - beganMs - (waitedNowMs - waitedBeforeMs);
  };
}
