// SPDX-License-Identifier: Apache-2.0
import type { Logger } from './log.js';

/** The progress of an analysis. */
export interface Progress {
  readonly scoredWindows: number;
  readonly preparedS: number;
  readonly fileProgress: number;
}

const INTERVAL_MS = 5000;

const percent = (share: number): number => Math.round(share * 1000) / 10;

/**
 * Logs the progress of one analysis at most every five seconds, so that shorter analyses log nothing.
 */
export function progressLog(
  log: Logger,
  correlationId: string,
  nowMs: () => number = () => performance.now(),
): (progress: Progress) => void {
  let nextMs = nowMs() + INTERVAL_MS;
  return ({ scoredWindows, preparedS, fileProgress }) => {
    const now = nowMs();
    if (now < nextMs) return;
    nextMs = now + INTERVAL_MS;
    log.info({ correlationId, filePercent: percent(fileProgress), preparedS, scoredWindows }, 'analysing');
  };
}
