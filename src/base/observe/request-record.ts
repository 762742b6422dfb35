// SPDX-License-Identifier: Apache-2.0
import type { ErrorKey } from '../errors/catalogue.js';
import type { StageDurationsMs } from './timing.js';

/** How fetching a file from storage ended: `refused` is the client's or the link's fault, `abandoned` a client that went. */
export const fetchOutcomes = ['fetched', 'refused', 'failed', 'abandoned'] as const;
export type FetchOutcome = (typeof fetchOutcomes)[number];

/** What is known about one request, collected on its way and recorded once, when it is over. */
export interface RequestRecord {
  readonly correlationId: string;
  readonly method: string;
  /** The route's path; `other` where there is none, so that callers cannot make up label values. */
  route: string;
  /** 499 when the client went away before the answer. */
  status: number;
  /** Where it came from, as trusted proxies report it. */
  clientAddress?: string;
  errorKey?: ErrorKey;
  /** What went wrong inside, for the log only. */
  cause?: unknown;
  keyId?: string;
  account?: string;
  /** Of the upload, or of the file that was fetched. */
  bodyBytes?: number;
  fetch?: FetchOutcome;
  audioS?: number;
  scoredWindows?: number;
  skippedS?: number;
  /** The model, as the answer names it. */
  model?: string;
  /** Of the models that answered; never aliases. */
  modelIds?: readonly string[];
  stagesMs: StageDurationsMs;
  totalMs: number;
}

/** Is told of every request to the API, once, when it is over. */
export interface RequestRecorder {
  record(record: RequestRecord): void;
  /** Writes what is not written yet; to be called last. */
  close(): Promise<void>;
}

/** The status under which a request is recorded whose client went away. */
export const CLIENT_GONE_STATUS = 499;
