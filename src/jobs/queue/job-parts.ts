// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import type { Database } from '../../state/database/database.js';
import { AwaitedUploads } from './awaited-uploads.js';
import { BatchWorkTable } from './batch-work-table.js';
import { DeliveryWorkTable } from './delivery-work-table.js';
import { JobTable } from './job-table.js';
import { JobWorkTable } from './job-work-table.js';

/** Both sides of the queue of jobs: its clients' and its workers'; and the webhooks that tell of ends. */
export interface JobParts {
  readonly jobs: JobTable;
  readonly workTable: JobWorkTable;
  readonly awaitedUploads: AwaitedUploads;
  readonly batchWorkTable: BatchWorkTable;
  readonly deliveryWorkTable: DeliveryWorkTable;
}

/**
 * @param home whose stored files this process can read
 * @param retryDelayMs before a second try; for tests
 */
export function jobPartsOf(
  config: Pick<
    Config,
    'accountMaxJobs' | 'accountMaxBatches' | 'accountMaxKeptJobs' | 'accountMaxAwaitedUploads'
  >,
  database: Database,
  home?: string,
  retryDelayMs?: number,
): JobParts {
  const limits = {
    maxUnfinished: config.accountMaxJobs,
    maxBatches: config.accountMaxBatches,
    maxKept: config.accountMaxKeptJobs,
  };
  return {
    jobs: new JobTable(database, limits),
    workTable: new JobWorkTable(database, undefined, { home, retryDelayMs }),
    awaitedUploads: new AwaitedUploads(database, home ?? '', config.accountMaxAwaitedUploads),
    batchWorkTable: new BatchWorkTable(database, undefined, home),
    deliveryWorkTable: new DeliveryWorkTable(database),
  };
}
