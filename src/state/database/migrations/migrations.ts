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
import { scoreDrift } from './0011-score-drift.js';
import { adminLists } from './0012-admin-lists.js';
import { adminUsers } from './0013-admin-users.js';
import { uploadHomes } from './0014-upload-homes.js';
import { sessionKeys } from './0015-session-keys.js';
import { sessionDevices } from './0016-session-devices.js';
import { pageKeys } from './0017-page-keys.js';
import { sharedSecrets } from './0018-shared-secrets.js';

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
  scoreDrift,
  adminLists,
  adminUsers,
  uploadHomes,
  sessionKeys,
  sessionDevices,
  pageKeys,
  sharedSecrets,
];
