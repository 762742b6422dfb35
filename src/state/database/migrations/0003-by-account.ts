// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** For questions of one account that must not cost more the more rows it has, of jobs in a rare state for example. */
const sql = `
DROP INDEX jobs_unfinished;
CREATE INDEX jobs_unfinished ON jobs (account, state, task) WHERE state IN ('queued', 'running');
CREATE INDEX jobs_of_clients_by_state ON jobs (account, state, created_at_ms, id) WHERE batch_id IS NULL;
CREATE INDEX jobs_of_clients_by_end ON jobs (account, finished_at_ms) WHERE batch_id IS NULL AND finished_at_ms IS NOT NULL;
CREATE INDEX awaited_uploads_by_account ON awaited_uploads (home, account, look_at_ms);
CREATE INDEX awaited_uploads_of_accounts ON awaited_uploads (account, until_ms);
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (created_at_ms DESC, id);`;

export const byAccount: Migration = { name: '0003-by-account', sql };
