// SPDX-License-Identifier: Apache-2.0

import type { AddressRange } from './address-range.js';
import type { AllowedHost } from './allowed-host.js';
import type { ListenAddress } from './listen-address.js';

/** Everything an operator can set. Made by `loadConfig` from the option table in `options.ts`. */
export interface Config {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly AddressRange[];
  /** Where operators find the metrics, the documentation and details; undefined leaves them on the public port. */
  readonly adminAddress: ListenAddress | undefined;
  /** Certificate and key in the form of PEM; both empty for HTTP. */
  readonly tlsCertFile: string;
  readonly tlsKeyFile: string;
  /** Origins of pages that may read answers, or `*`. */
  readonly corsOrigins: readonly string[];
  /** Open connections at once; one more is closed. */
  readonly maxConnections: number;
  /** The same of one address, unless it is a trusted proxy's; 0 sets no limit. */
  readonly maxConnectionsPerAddress: number;
  /** Bytes of answers that clients have not taken yet, over all connections. */
  readonly maxAnswerBytes: number;
  readonly dataDir: string;
  readonly modelsDir: string;
  readonly device: 'auto' | 'cpu' | 'cuda';
  /** Processes of a supervised server; 0 for one process without a supervisor. */
  readonly processes: number;
  readonly prepareThreads: number;
  readonly scoringThreads: number;
  /** Whether decoder threads run under a filter of system calls. */
  readonly decoderSandbox: 'auto' | 'required' | 'off';
  /** Windows per inference call at most. */
  readonly maxBatchWindows: number;
  /** How long an incomplete batch waits for more windows on a GPU, in ms. */
  readonly batchWaitMs: number;
  /** Upload bytes held in memory at once, over all requests. */
  readonly maxInflightBytes: number;
  /** Requests admitted at once; one more is refused with 503. */
  readonly maxInflightRequests: number;
  /** Transfers through links to the data folder at once; one more is refused with 503. */
  readonly maxTransfers: number;
  /** Wait for a free thread that a request may expect when it is admitted. */
  readonly maxWaitMs: number;
  /** Of the permits that others leave, what one API key may have, or the links of one account. */
  readonly keySharePercent: number;
  /** Of the upload memory that others leave, what one API key may have. */
  readonly keyMemoryPercent: number;
  /** Of permits and upload memory that others leave, what one client address may have. */
  readonly addressSharePercent: number;
  /** Requests that one API key may make per window, unless the key says otherwise; 0 sets no limit. */
  readonly rateLimitRequests: number;
  readonly rateLimitWindowS: number;
  /** Requests of one API key in flight at once, unless the key says otherwise; 0 sets no limit. */
  readonly keyConcurrency: number;
  readonly audit: 'file' | 'off';
  /** When audit lines are forced to the disk. */
  readonly auditSync: 'off' | 'interval' | 'each';
  /** How many days of audit files are kept; 0 keeps all. */
  readonly auditDays: number;
  /** How many days of usage are kept; 0 keeps all. */
  readonly usageDays: number;
  readonly maxPredictBytes: number;
  readonly maxPredictDurationS: number;
  readonly maxLargeFileBytes: number;
  readonly maxLargeFileDurationS: number;
  readonly maxVoiceidBytes: number;
  readonly maxVoiceidDurationS: number;
  /** What enrolment does with a voice that is AI-generated. */
  readonly enrollAuthenticity: 'reject' | 'flag' | 'skip';
  /** Id of the speaker model to use; empty for the first in the manifest. */
  readonly speakerModel: string;
  /** Similarity from which two voices count as the same, or the name of an operating point; undefined for the model's own. */
  readonly matchThreshold: number | string | undefined;
  /** The whole body must have arrived this long after its headers. */
  readonly receiveTimeoutMs: number;
  /** The same for large files. */
  readonly largeFileReceiveTimeoutMs: number;
  /** How long a request may wait for upload memory or a worker. */
  readonly queueTimeoutMs: number;
  /** How long preparing and scoring one request may take. */
  readonly analysisTimeoutMs: number;
  /** The same for large files, and how long one may wait for a thread before that. */
  readonly largeFileTimeoutMs: number;
  /** Where `presigned_url` may point to beside the configured storage. */
  readonly fetchAllowedHosts: readonly AllowedHost[];
  /** How long fetching a file may take, beside waiting for upload memory. */
  readonly fetchTimeoutMs: number;
  /** How long the storage may send nothing while a file is fetched. */
  readonly fetchStallTimeoutMs: number;
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
  /** How many days objects on the local disk are kept; 0 keeps them. */
  readonly objectTtlDays: number;
  /** What the objects of one account on the local disk may take; 0 sets no limit. */
  readonly accountMaxBytes: number;
  readonly accountMaxObjects: number;
  /** What objects leave free of the disk under the data folder. */
  readonly diskReserveBytes: number;
  /** Largest object on the local disk. */
  readonly maxObjectBytes: number;
  /** Where the key of the first start is written; empty for standard output. */
  readonly firstKeyFile: string;
  /** `auto` is text on a terminal and JSON otherwise. */
  readonly logFormat: 'auto' | 'json' | 'text';
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}
