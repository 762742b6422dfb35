// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/**
 * A batch is a job, and so is each line of its manifest: it waits in the table until the batch puts it into the queue. The rule
 * that a line is there once keeps a broken reading of the manifest from adding it again.
 */
export const batches: Migration = {
  name: '0008-batches',
  sql: `
    ALTER TABLE jobs ADD COLUMN batch_id TEXT REFERENCES jobs (id) ON DELETE CASCADE;
    ALTER TABLE jobs ADD COLUMN line BIGINT;
    ALTER TABLE jobs ADD COLUMN label TEXT;
    ALTER TABLE jobs ADD COLUMN lines_read BIGINT NOT NULL DEFAULT 0;
    CREATE UNIQUE INDEX jobs_of_batch ON jobs (batch_id, line) WHERE batch_id IS NOT NULL;
    CREATE INDEX jobs_of_batch_by_state ON jobs (batch_id, state, line) WHERE batch_id IS NOT NULL;
    CREATE INDEX jobs_of_clients ON jobs (account, created_at_ms, id) WHERE batch_id IS NULL;
    CREATE INDEX batches_unfinished ON jobs (created_at_ms) WHERE task = 'batch' AND state IN ('queued', 'running');
    CREATE TABLE batch_manifests (
      job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
      manifest TEXT NOT NULL
    );
  `,
};
