// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/**
 * One row per key and limit. Unlogged, because a window is not worth a write to the disk: after a crash of PostgreSQL all windows
 * begin anew. `asked*` and `granted` are the last question and its answer. A SQLite database has one host, which counts in memory.
 */
export const rateWindows: Migration = {
  name: '0005-rate-windows',
  sql: {
    sqlite: '',
    postgres: `
      CREATE UNLOGGED TABLE rate_windows (
        key_id TEXT NOT NULL,
        requests BIGINT NOT NULL,
        window_s BIGINT NOT NULL,
        ends_at_ms BIGINT NOT NULL,
        taken BIGINT NOT NULL,
        asked_window BIGINT NOT NULL,
        asked_used BIGINT NOT NULL,
        asked BIGINT NOT NULL,
        granted BIGINT NOT NULL,
        PRIMARY KEY (key_id, requests, window_s)
      ) WITH (fillfactor = 50);
    `,
  },
};
