// SPDX-License-Identifier: Apache-2.0
import type { Logger } from './log.js';
import { RefusalLines } from './refusal-lines.js';
import { logRequest } from './request-log.js';
import type { RequestRecord, RequestRecorder } from './request-record.js';
import { endRequestSpan } from './request-span.js';
import type { ServiceMetrics } from './service-metrics.js';

export interface RequestCounter {
  countRequest(record: RequestRecord): void;
}

export interface EndedRequestsOptions {
  readonly metrics: ServiceMetrics;
  readonly log: Logger;
  readonly recorders: readonly RequestRecorder[];
  readonly history: RequestCounter | undefined;
}

/** The one place that is told of each request and job at its end: it tells metrics, log, traces, history, usage and audit. */
export class EndedRequests {
  readonly #options: EndedRequestsOptions;
  readonly #refusalLines: RefusalLines;

  constructor(options: EndedRequestsOptions) {
    const { log, metrics } = options;
    this.#options = options;
    this.#refusalLines = new RefusalLines({
      onLeftOut: (lines) => metrics.logLinesLeftOut.inc(lines),
      onSum: (lines) => log.info({ lines }, 'refused requests without a line of their own'),
    });
  }

  /** @param isOfApi false for requests that are not metered, such as those to the admin API */
  note(record: RequestRecord, isOfApi: boolean): void {
    const { metrics, history, log, recorders } = this.#options;
    metrics.countRequest(record);
    history?.countRequest(record);
    if (this.#refusalLines.mayWrite(record)) logRequest(log, record);
    if (record.trace !== undefined) endRequestSpan(record.trace, record);
    for (const recorder of recorders) {
      if (isOfApi) recorder.record(record);
      else if (record.keyId !== undefined) recorder.noteUse?.(record);
    }
  }

  /** A job has metrics, lines and spans of its own. */
  noteJob(record: RequestRecord): void {
    for (const recorder of this.#options.recorders) recorder.record(record);
  }

  /** Call it after the last request, before the log ends. */
  close(): void {
    this.#refusalLines.sumUp();
  }
}
