// SPDX-License-Identifier: Apache-2.0
import { constants } from 'node:os';

// Ctrl-C under `npm start` sends two signals: the terminal signals the whole group, and npm forwards its own.
const SAME_SIGNAL_MS = 500;

const endAtOnce = (signal: NodeJS.Signals): void => process.exit(128 + constants.signals[signal]);

/** Until `onStopSignals`, these signals end the process, also as process 1 of a container, which would ignore them by default. */
export function endOnStopSignals(): void {
  if (process.pid !== 1) return;
  process.on('SIGTERM', endAtOnce);
  process.on('SIGINT', endAtOnce);
}

/** The first SIGTERM or SIGINT calls `onFirst`, the second `onSecond`. Returns a function to stop for other reasons. */
export function onStopSignals(
  onFirst: (signal: NodeJS.Signals) => void,
  onSecond: () => void,
): (signal: NodeJS.Signals) => void {
  let firstMs: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (firstMs === undefined) {
      firstMs = performance.now();
      onFirst(signal);
    } else if (performance.now() - firstMs > SAME_SIGNAL_MS) {
      onSecond();
    }
  };
  process.on('SIGTERM', stop).off('SIGTERM', endAtOnce);
  process.on('SIGINT', stop).off('SIGINT', endAtOnce);
  return stop;
}
