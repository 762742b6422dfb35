// SPDX-License-Identifier: Apache-2.0
import type { Logger } from './log.js';
import type { RequestRecord } from './request-record.js';
import { stages } from './timing.js';

const roundedMs = (durationMs: number): number => Math.round(durationMs * 1000) / 1000;

/** The total, and the stages as far as the request came. */
export function roundedTimesMs({ totalMs, stagesMs }: RequestRecord): Record<string, number> {
  const timesMs: Record<string, number> = { total: roundedMs(totalMs) };
  for (const stage of stages) {
    const durationMs = stagesMs[stage];
    if (durationMs !== undefined) timesMs[stage] = roundedMs(durationMs);
  }
  return timesMs;
}

/** Routes that monitoring calls every few seconds. */
export const probes: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

/** One line per request. Failures of the server are errors, with their cause; everything else is information. */
export function logRequest(logger: Logger, record: RequestRecord): void {
  const isFailure = record.status >= 500 && record.cause !== undefined;
  const level = isFailure ? 'error' : probes.has(record.route) ? 'debug' : 'info';
  if (!logger.isLevelEnabled(level)) return;
  const { cause, stagesMs: _stages, totalMs: _total, trace, ...known } = record;
  // By the name that readers of logs look for.
  const line = trace === undefined ? known : { ...known, trace_id: trace.traceId };
  const timesMs = roundedTimesMs(record);
  if (isFailure) logger.error({ ...line, timesMs, err: cause }, 'request failed');
  else logger[level]({ ...line, timesMs }, 'request');
}
