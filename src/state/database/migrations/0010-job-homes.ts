// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** Where a job's stored file lies: a data folder or a bucket. Empty for links, which every host can follow. */
export const jobHomes: Migration = {
  name: '0010-job-homes',
  sql: 'ALTER TABLE jobs ADD COLUMN home TEXT;',
};
