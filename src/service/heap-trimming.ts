// SPDX-License-Identifier: Apache-2.0
import type { Addon } from '../base/addon/addon.js';
import type { Logger } from '../base/observe/log.js';

const TRIM_EVERY_MS = 10_000;

/**
 * Gives freed memory back to the system now and then. The C library keeps it otherwise, in a heap for each few threads:
 * hundreds of megabytes after hours of mixed work, and most of a flood forever. Fewer heaps alone do not help.
 * @returns ends it
 */
export function keepHeapTrimmed({ trimHeap }: Pick<Addon, 'trimHeap'>, log: Logger): () => void {
  let isTrimming = false;
  const timer = setInterval(() => {
    if (isTrimming) return;
    isTrimming = true;
    void trimHeap()
      .catch((error) => log.error({ err: error }, 'freed memory was not given back'))
      .finally(() => {
        isTrimming = false;
      });
  }, TRIM_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
