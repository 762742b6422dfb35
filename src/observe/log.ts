// SPDX-License-Identifier: Apache-2.0
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** How long a line may wait for others before it is written. */
const FLUSH_INTERVAL_MS = 200;
const BUFFER_BYTES = 4096;

export interface ServiceLog {
  readonly logger: Logger;
  /** Writes what is still buffered; call it last. */
  flush(): void;
  /** To be called when nobody can read the log any more: nothing is written from now on. */
  discard(): void;
}

/**
 * JSON lines on standard output. Lines are collected and written together: one system call per request would cost
 * as much as the rest of the front end.
 */
export function createLog(level: string): ServiceLog {
  const destination = pino.destination({
    dest: 1,
    minLength: BUFFER_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
    sync: true,
  });
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  let isDiscarded = false;
  const discard = (): void => {
    if (isDiscarded) return;
    isDiscarded = true;
    logger.level = 'silent';
    // Otherwise a flush would try again and again to write what there is.
    destination.destroy();
  };
  // Lines that a full disk does not take are lost; the server goes on.
  destination.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EIO') discard();
  });
  return {
    logger,
    flush() {
      if (!isDiscarded) destination.flushSync();
    },
    discard,
  };
}
