// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';

/**
 * For how long, since the machine began, some thread has waited for a processor. Undefined if the kernel does not count that
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
 * Measures how long something takes while there are processors enough for everybody: other work on the machine can make it longer
 * than that, but not this time. Of a machine that does not tell, it is unknown, and so 0.
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
