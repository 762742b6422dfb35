// SPDX-License-Identifier: Apache-2.0
import { MEBIBYTE } from './option.js';

/** Values without a setting. Tests of what happens at a limit give parts of a server smaller ones. */
export const constants = {
  /** Memory for answers to slow clients, over all connections. */
  maxAnswerBytes: 64 * MEBIBYTE,
  /** On a GPU, the longest wait of an incomplete batch for more windows. */
  batchWaitMs: 2,
  /** Connections of a process to PostgreSQL, besides those for notifications and the queue of jobs. */
  databaseConnections: 4,
  /** Audio of a stream that may wait for its analysis. */
  streamBufferS: 30,
  /** Time without audio after which a stream ends. */
  streamIdleTimeoutS: 60,
  /** Lines of a batch's manifest. */
  maxBatchLines: 100_000,
  /** Unfinished batches of one account. */
  accountMaxBatches: 10,
  /** Uploads to a bucket that one account has links for, and that are looked for. */
  accountMaxAwaitedUploads: 10_000,
  /** Time for one request to a `callback_url`, from the name look-up to the end of the answer. */
  webhookTimeoutMs: 15_000,
};

type Given = Readonly<
  Record<
    | 'keySharePercent'
    | 'receiveTimeoutMs'
    | 'analysisTimeoutMs'
    | 'fetchTimeoutMs'
    | 'maxInflightRequests'
    | 'maxJobBytes',
    number
  >
>;

/** Values that follow from settings. */
export function derivedValues(given: Given) {
  const left = 100 - given.keySharePercent;
  return {
    /** With the default, two files of the largest size fit. */
    keyMemoryPercent: Math.round(100 - 0.4 * left),
    /** Many people may share one address. */
    addressSharePercent: Math.round(100 - 0.2 * left),
    /** With the default, enough for 100 MiB at 1.4 Mbit/s. */
    largeFileReceiveTimeoutMs: 10 * given.receiveTimeoutMs,
    /** Large files may also wait this long for a thread. */
    largeFileTimeoutMs: Math.round(7.5 * given.analysisTimeoutMs),
    /** Time for the name of a host to resolve, and for the host to connect, answer or send the next bytes. */
    fetchStallTimeoutMs: Math.ceil(given.fetchTimeoutMs / 6),
    /** Clients that follow jobs and calls at once, counted apart from requests. */
    maxEventStreams: given.maxInflightRequests,
    /** Largest upload to the data folder through a link. */
    maxObjectBytes: given.maxJobBytes,
  };
}
