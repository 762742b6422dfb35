// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** `usage_batches` has the ids of counts that were added, so that adding them again changes nothing. */
export const usage: Migration = {
  name: '0002-usage',
  sql: `
    CREATE TABLE usage_counts (
      day TEXT NOT NULL,
      key_id TEXT NOT NULL,
      account TEXT NOT NULL,
      route TEXT NOT NULL,
      requests BIGINT NOT NULL,
      errors BIGINT NOT NULL,
      audio_s DOUBLE PRECISION NOT NULL,
      windows BIGINT NOT NULL,
      bytes BIGINT NOT NULL,
      PRIMARY KEY (day, key_id, route, account)
    );
    CREATE TABLE usage_batches (id TEXT PRIMARY KEY, added_at_ms BIGINT NOT NULL);
  `,
};
