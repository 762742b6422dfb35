// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** For lists of the jobs of all accounts, and for the last use of keys. */
export const adminLists: Migration = {
  name: '0012-admin-lists',
  sql: `
    CREATE INDEX jobs_by_time ON jobs (created_at_ms, id) WHERE batch_id IS NULL;
    CREATE INDEX usage_counts_by_key ON usage_counts (key_id, day);
  `,
};
