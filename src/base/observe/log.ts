// SPDX-License-Identifier: Apache-2.0
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';
import type { Config } from '../config/options.js';
import { ATOMIC_BYTES, BackgroundOutput } from './background-output.js';
import { textOfLine } from './log-text.js';
import { openStandardOutput } from './standard-output.js';

export type { Logger } from 'pino';

export interface ServiceLog {
  readonly logger: Logger;
  /** Writes text for people, in its place among the lines. */
  print(text: string): void;
  /** Has each dropped line counted, also those before. */
  countDropped(count: (lines: number) => void): void;
  /** Writes what is still buffered, for as long as a reader may reasonably take; call it last. */
  close(): Promise<void>;
  /** The same where nothing can be awaited. */
  closeNow(): void;
  /** To be called when nobody can read the log any more: nothing is written from now on. */
  discard(): void;
}

type LogSettings = Pick<Config, 'logLevel' | 'logFormat' | 'processes'>;

/** Lines on standard output: JSON, or text for people where they go to a terminal. */
export function createLog(
  { logLevel, logFormat, processes }: LogSettings,
  fd = openStandardOutput(),
): ServiceLog {
  const isText = logFormat === 'text' || (logFormat === 'auto' && isatty(fd));
  const format = isText ? textOfLine : (line: string): string => line;
  let dropped = 0;
  let count = (lines: number): void => {
    dropped += lines;
  };
  const output = new BackgroundOutput(fd, {
    // A supervisor and its processes write into one output, and must not tear one another's lines.
    ...(processes > 0 && { maxWriteBytes: ATOMIC_BYTES }),
    describeDropped: (lines) =>
      format(
        `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, msg: 'log lines were dropped: they could not be written in time' })}\n`,
      ),
    onDropped: () => count(1),
  });
  const logger = pino(
    {
      level: logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    { write: (line: string) => output.write(format(line)) },
  );
  return {
    logger,
    print(text) {
      output.write(text);
      output.flush();
    },
    countDropped(newCount) {
      newCount(dropped);
      count = newCount;
    },
    close: () => output.close(),
    closeNow: () => output.closeNow(),
    discard() {
      logger.level = 'silent';
      output.discard();
    },
  };
}
