// SPDX-License-Identifier: Apache-2.0
import type { ErrorKey } from '../errors/catalogue.js';
import type { Span } from '../tracing/tracing.js';
import type { StageDurationsMs } from './timing.js';

/** The outcome of fetching a file: `refused` is the fault of client or link, `abandoned` means that the client left. */
export const fetchOutcomes = ['fetched', 'refused', 'failed', 'abandoned'] as const;
export type FetchOutcome = (typeof fetchOutcomes)[number];

/** The facts about one request, collected on its way and recorded once at its end. */
export interface RequestRecord {
  readonly correlationId: string;
  readonly method: string;
  /** The route's path, or `other`, so that clients cannot make up label values. */
  route: string;
  /** 499 if the client left before the answer. */
  status: number;
  /** The client's address, as trusted proxies report it. */
  clientAddress?: string;
  errorKey?: ErrorKey;
  /** The internal cause of a failure, for the log only. */
  cause?: unknown;
  keyId?: string;
  account?: string;
  /** Of a user of the dashboard. */
  userId?: string;
  /** Its usage is in the database already. */
  isCounted?: true;
  /** Size of the upload or of the fetched file. */
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
  /** Its span, which ends when the request is recorded; absent without traces. */
  trace?: Span;
  /** For how many refused requests it stands, if they have no records and lines of their own; `totalMs` is their mean. */
  times?: number;
}

/** Gets every request to the API once, at its end. */
export interface RequestRecorder {
  record(record: RequestRecord): void;
  /** Gets the other requests that came with a valid key, such as those to the admin API: they are not metered. */
  noteUse?(record: RequestRecord): void;
  /** Writes everything pending; call it last. */
  close(): Promise<void>;
}

/** The recorded status of requests whose client left. */
export const CLIENT_GONE_STATUS = 499;
