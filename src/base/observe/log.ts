// SPDX-License-Identifier: Apache-2.0
//
// This room records the server's work: log lines, metrics and times of requests. Writing never blocks: if
// the log is not read, lines are dropped and counted.
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';
import type { Config } from '../config/options.js';
import type { Shown } from '../errors/shown-text.js';
import { ATOMIC_BYTES, BackgroundOutput } from './background-output.js';
import { textOfLine } from './log-text.js';
import { openStandardOutput } from './standard-output.js';

export type { Logger } from 'pino';

export interface ServiceLog {
  readonly logger: Logger;
  /** Writes text for people, in order with the lines. */
  print(text: Shown): void;
  /** Counts dropped lines, including earlier ones. */
  countDropped(count: (lines: number) => void): void;
  /** Writes buffered lines, within a reasonable time for the reader; call it last. */
  close(): Promise<void>;
  /** The same without waiting. */
  closeNow(): void;
  /** Call it if nobody can read the log any longer: stops all writing. */
  discard(): void;
}

type LogSettings = Pick<Config, 'logLevel' | 'logFormat' | 'processes'>;

/** Lines on standard output: JSON, or text for people on a terminal. */
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
    print({ text }) {
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
