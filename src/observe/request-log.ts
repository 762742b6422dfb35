// SPDX-License-Identifier: Apache-2.0
import type { Logger } from './log.js';
import type { RequestRecord } from './request-record.js';
import { stages } from './timing.js';

const roundedMs = (durationMs: number): number => Math.round(durationMs * 1000) / 1000;

/** One line per request. Failures of our own are errors, with their cause; everything else is for information. */
export function logRequest(logger: Logger, record: RequestRecord): void {
  const isFailure = record.status >= 500 && record.cause !== undefined;
  if (!isFailure && !logger.isLevelEnabled('info')) return;
  const { cause, stagesMs, totalMs, ...line } = record;
  const timesMs: Record<string, number> = { total: roundedMs(totalMs) };
  for (const stage of stages) {
    const durationMs = stagesMs[stage];
    if (durationMs !== undefined) timesMs[stage] = roundedMs(durationMs);
  }
  if (isFailure) logger.error({ ...line, timesMs, err: cause }, 'request failed');
  else logger.info({ ...line, timesMs }, 'request');
}
