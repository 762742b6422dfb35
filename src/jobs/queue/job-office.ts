// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import type { Database } from '../../state/database/database.js';
import { AwaitedUploads } from './awaited-uploads.js';
import { BatchDesk } from './batch-desk.js';
import { DeliveryDesk } from './delivery-desk.js';
import { JobDesk } from './job-desk.js';
import { Jobs } from './jobs.js';

/** Both sides of the queue of jobs: its clients' and its workers'; and the webhooks that tell of ends. */
export interface JobOffice {
  readonly jobs: Jobs;
  readonly desk: JobDesk;
  readonly awaitedUploads: AwaitedUploads;
  readonly batchDesk: BatchDesk;
  readonly deliveryDesk: DeliveryDesk;
}

/**
 * @param home whose stored files this process can read
 * @param retryDelayMs before a second try; for tests
 */
export function jobOfficeOf(
  { accountMaxJobs, accountMaxBatches }: Pick<Config, 'accountMaxJobs' | 'accountMaxBatches'>,
  database: Database,
  home?: string,
  retryDelayMs?: number,
): JobOffice {
  return {
    jobs: new Jobs(database, { maxUnfinished: accountMaxJobs, maxBatches: accountMaxBatches }),
    desk: new JobDesk(database, undefined, { home, retryDelayMs }),
    awaitedUploads: new AwaitedUploads(database, home ?? ''),
    batchDesk: new BatchDesk(database, undefined, home),
    deliveryDesk: new DeliveryDesk(database),
  };
}
