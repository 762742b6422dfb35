// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceLog } from '../base/observe/log.js';

/** How long requests in flight may take once nothing can be relied on any more. */
const LAST_MS = 5000;

/**
 * An error that nothing has caught may have left anything half done, so the process ends with exit code 1, after
 * requests in flight had a few seconds. A supervisor, ours or the system's, starts it again.
 */
export function endOnUncaught(log: ServiceLog, stop: () => Promise<void>): void {
  let isEnding = false;
  process.on('uncaughtException', (error, origin) => {
    log.logger.fatal({ err: error, origin }, 'uncaught error: the server ends');
    if (isEnding) return;
    isEnding = true;
    void Promise.race([stop(), delay(LAST_MS)])
      .catch(() => {})
      .then(() => log.close())
      .then(() => process.exit(1));
  });
}
