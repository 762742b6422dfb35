// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** Each open page of a session has a key of its own. */
export const pageKeys: Migration = {
  name: '0017-page-keys',
  sql: `
    CREATE TABLE admin_session_keys (
      key_id TEXT PRIMARY KEY,
      session_id TEXT NOT NULL REFERENCES admin_sessions (id) ON DELETE CASCADE,
      created_at_ms BIGINT NOT NULL
    );
    CREATE INDEX admin_session_keys_by_session ON admin_session_keys (session_id);
    INSERT INTO admin_session_keys (key_id, session_id, created_at_ms)
      SELECT key_id, id, created_at_ms FROM admin_sessions WHERE key_id IS NOT NULL;
    ALTER TABLE admin_sessions DROP COLUMN key_id;
  `,
};
