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
  return { logger, flush: () => destination.flushSync() };
}
