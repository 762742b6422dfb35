// SPDX-License-Identifier: Apache-2.0

// Ctrl-C under `npm start` sends two signals: the terminal signals the whole group, and npm forwards its own.
const SAME_SIGNAL_MS = 500;

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
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return stop;
}
