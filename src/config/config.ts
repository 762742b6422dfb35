// SPDX-License-Identifier: Apache-2.0

/** Everything an operator can set. Made by `loadConfig` from the option table in `options.ts`. */
export interface Config {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly dataDir: string;
  readonly modelsDir: string;
  readonly device: 'auto' | 'cpu' | 'cuda';
  readonly prepareThreads: number;
  readonly scoringThreads: number;
  /** Windows per inference call at most. */
  readonly maxBatchWindows: number;
  /** How long an incomplete batch waits for more windows on a GPU, in ms. */
  readonly batchWaitMs: number;
  /** Upload bytes held in memory at once, over all requests. */
  readonly maxInflightBytes: number;
  /** Requests admitted at once; one more is refused with 503. */
  readonly maxInflightRequests: number;
  readonly maxPredictBytes: number;
  readonly maxPredictDurationS: number;
  /** The whole body must have arrived this long after its headers. */
  readonly receiveTimeoutMs: number;
  /** How long a request may wait for upload memory or a worker. */
  readonly queueTimeoutMs: number;
  /** How long preparing and scoring one request may take. */
  readonly analysisTimeoutMs: number;
  /** After a stop signal: how long the server keeps accepting while it reports not ready. */
  readonly stopGraceMs: number;
  /** After that: how long requests in flight may take before they are cut off. */
  readonly stopDrainMs: number;
  /** Bucket for the files of `/file`; empty for the local disk. */
  readonly storageBucket: string;
  readonly storageRegion: string;
  /** Origin of the S3 service; empty for AWS. */
  readonly storageEndpoint: string;
  readonly storagePathStyle: 'auto' | 'yes' | 'no';
  /** Origin of presigned links; empty for the endpoint or, with the local disk, the host that the client has used. */
  readonly storagePublicUrl: string;
  readonly storageLinkLifetimeS: number;
  /** Largest object on the local disk. */
  readonly maxObjectBytes: number;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}
