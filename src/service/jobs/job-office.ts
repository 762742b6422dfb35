// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import type { Logger } from '../../base/observe/log.js';
import type { Database } from '../../state/database/database.js';
import { AwaitedUploads } from '../../state/jobs/awaited-uploads.js';
import { BatchDesk } from '../../state/jobs/batch-desk.js';
import { JobDesk } from '../../state/jobs/job-desk.js';
import type { JobQueue } from '../../state/jobs/job-queue.js';
import { Jobs } from '../../state/jobs/jobs.js';
import { openJobQueue } from '../../state/jobs/open-job-queue.js';
import { DeliveryDesk } from '../../state/webhooks/delivery-desk.js';

/** Both sides of the queue of jobs: its clients' and its workers'; and what tells clients of the ends. */
export interface JobOffice {
  readonly jobs: Jobs;
  readonly desk: JobDesk;
  readonly awaitedUploads: AwaitedUploads;
  readonly batchDesk: BatchDesk;
  readonly deliveryDesk: DeliveryDesk;
  /** To be called before the database is closed. */
  close(): Promise<void>;
}

/**
 * @param home whose stored files this process can read
 * @throws DatabaseError
 */
export async function openJobOffice(
  config: Config,
  database: Database,
  home: string,
  log: Logger,
): Promise<JobOffice> {
  const onError = (error: unknown): void =>
    log.warn({ err: error }, 'the upkeep of the job queue failed; will retry');
  const queue = await openJobQueue(database, config, onError, [home]);
  return jobOfficeOf(config, database, queue, home);
}

/**
 * @param queue closed with the office
 * @param home whose stored files this process can read
 */
export function jobOfficeOf(
  { accountMaxJobs, accountMaxBatches }: Pick<Config, 'accountMaxJobs' | 'accountMaxBatches'>,
  database: Database,
  queue: JobQueue,
  home?: string,
): JobOffice {
  return {
    jobs: new Jobs(database, queue, { maxUnfinished: accountMaxJobs, maxBatches: accountMaxBatches }),
    desk: new JobDesk(database, queue, undefined, { home }),
    awaitedUploads: new AwaitedUploads(database, home ?? ''),
    batchDesk: new BatchDesk(database, queue, undefined, home),
    deliveryDesk: new DeliveryDesk(database, queue.webhooks),
    close: () => queue.close(),
  };
}
