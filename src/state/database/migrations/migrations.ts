// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';
import { apiKeys } from './0001-api-keys.js';
import { usage } from './0002-usage.js';
import { jobsMigration } from './0003-jobs.js';
import { webhooks } from './0004-webhooks.js';
import { rateWindows } from './0005-rate-windows.js';
import { operatingPoints } from './0006-operating-points.js';
import { awaitedUploads } from './0007-awaited-uploads.js';
import { batches } from './0008-batches.js';
import { jobTraces } from './0009-job-traces.js';
import { jobHomes } from './0010-job-homes.js';

/** In the order in which they are applied. New ones come last; a released one never changes. */
export const migrations: readonly Migration[] = [
  apiKeys,
  usage,
  jobsMigration,
  webhooks,
  rateWindows,
  operatingPoints,
  awaitedUploads,
  batches,
  jobTraces,
  jobHomes,
];
