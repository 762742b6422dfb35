// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceLog } from '../base/observe/log.js';

/** Time for requests in flight once the process can no longer be relied on. */
const LAST_MS = 5000;

/**
 * An uncaught error may leave anything half done, so the process ends with exit code 1, after a few seconds for requests
 * in flight. A supervisor, ours or the system's, starts it again.
 */
export function endOnUncaught(log: ServiceLog, stop: () => Promise<void>): void {
  let isEnding = false;
  process.on('uncaughtException', (error, origin) => {
    log.logger.fatal({ err: error, origin }, 'uncaught error: stopping the server');
    if (isEnding) return;
    isEnding = true;
    void Promise.race([stop(), delay(LAST_MS)])
      .catch(() => {})
      .then(() => log.close())
      .then(() => process.exit(1));
  });
}
