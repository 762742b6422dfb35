// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** Secrets are stored hashed: passwords by scrypt, sessions and links, which are random, by SHA-256. */
export const adminUsers: Migration = {
  name: '0013-admin-users',
  sql: `
    INSERT INTO revisions (topic, revision) VALUES ('admin', 0);
    CREATE TABLE admin_users (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      folded_name TEXT NOT NULL UNIQUE,
      role TEXT NOT NULL,
      account TEXT NOT NULL,
      password TEXT,
      oidc_issuer TEXT,
      oidc_subject TEXT,
      created_at_ms BIGINT NOT NULL,
      disabled_at_ms BIGINT,
      revision BIGINT NOT NULL
    );
    CREATE UNIQUE INDEX admin_users_by_subject ON admin_users (oidc_issuer, oidc_subject);
    CREATE TABLE admin_sessions (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES admin_users (id) ON DELETE CASCADE,
      created_at_ms BIGINT NOT NULL,
      used_at_ms BIGINT NOT NULL,
      ends_at_ms BIGINT NOT NULL,
      revoked_at_ms BIGINT,
      key_id TEXT,
      revision BIGINT NOT NULL
    );
    CREATE INDEX admin_sessions_by_revision ON admin_sessions (revision);
    CREATE INDEX admin_sessions_by_user ON admin_sessions (user_id);
    CREATE TABLE admin_links (
      token_sha256 TEXT PRIMARY KEY,
      user_id TEXT REFERENCES admin_users (id) ON DELETE CASCADE,
      ends_at_ms BIGINT NOT NULL
    );
    CREATE TABLE sign_in_attempts (
      subject TEXT PRIMARY KEY,
      attempts BIGINT NOT NULL,
      last_at_ms BIGINT NOT NULL,
      free_at_ms BIGINT NOT NULL
    );
  `,
};
