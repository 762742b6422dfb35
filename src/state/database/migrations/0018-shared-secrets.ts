// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/**
 * What all hosts sign with; without `secret` where a setting has it. A SQLite database has one host, whose secrets are in its data
 * folder.
 */
export const sharedSecrets: Migration = {
  name: '0018-shared-secrets',
  sql: {
    sqlite: '',
    postgres: `
      CREATE TABLE shared_secrets (
        name TEXT PRIMARY KEY,
        secret TEXT,
        fingerprint TEXT NOT NULL,
        created_at_ms BIGINT NOT NULL
      );
    `,
  },
};
