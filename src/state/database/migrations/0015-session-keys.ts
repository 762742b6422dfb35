// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** Keys that end with a session of the dashboard, so that they can be removed. Those of before are known by their form. */
export const sessionKeys: Migration = {
  name: '0015-session-keys',
  sql: `
    ALTER TABLE api_keys ADD COLUMN ends_with_session BIGINT NOT NULL DEFAULT 0;
    UPDATE api_keys SET ends_with_session = 1
      WHERE name LIKE 'playground of %' AND scopes = 'predict,voiceid,file' AND expires_at_ms <= created_at_ms + 3600000;
    CREATE INDEX api_keys_of_sessions ON api_keys (created_at_ms) WHERE ends_with_session = 1;
  `,
};
