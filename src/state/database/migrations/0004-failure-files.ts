// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** Null unless a client waits for the file of a result, which the failure of the job has yet to become. */
const sql = `
ALTER TABLE jobs ADD COLUMN failure_file_due_ms BIGINT;
CREATE INDEX jobs_failure_files ON jobs (failure_file_due_ms) WHERE failure_file_due_ms IS NOT NULL;`;

export const failureFiles: Migration = { name: '0004-failure-files', sql };
