// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** `revisions` counts changes in the order of their commits, so that a server can ask for what is new. */
export const apiKeys: Migration = {
  name: '0001-api-keys',
  sql: `
    CREATE TABLE revisions (topic TEXT PRIMARY KEY, revision BIGINT NOT NULL);
    INSERT INTO revisions (topic, revision) VALUES ('keys', 0);
    CREATE TABLE api_keys (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      account TEXT NOT NULL,
      scopes TEXT NOT NULL,
      rate_requests BIGINT,
      rate_window_s BIGINT,
      concurrency BIGINT,
      secret_sha256 TEXT NOT NULL,
      created_at_ms BIGINT NOT NULL,
      expires_at_ms BIGINT,
      revoked_at_ms BIGINT,
      revision BIGINT NOT NULL
    );
    CREATE INDEX api_keys_by_revision ON api_keys (revision);
  `,
};
