// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** The `traceparent` of the request that made a job; for lines of a batch, that of the batch. */
export const jobTraces: Migration = {
  name: '0009-job-traces',
  sql: 'ALTER TABLE jobs ADD COLUMN traceparent TEXT;',
};
