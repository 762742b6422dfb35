// SPDX-License-Identifier: Apache-2.0
import type { Logger } from '../base/observe/log.js';

/** Warnings of Node and of packages become lines of the log, which programs read. Node would write them past it. */
export function logWarnings(logger: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) =>
    logger.warn(
      { warning: name },
      message
        .split('\n')
        .map((line) => line.trim())
        .join(' '),
    ),
  );
}
