// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** Uploads to a bucket, of which nobody tells us. */
export const awaitedUploads: Migration = {
  name: '0007-awaited-uploads',
  sql: `
CREATE TABLE awaited_uploads (
  name TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  asked_at_ms BIGINT NOT NULL,
  until_ms BIGINT NOT NULL,
  look_at_ms BIGINT NOT NULL
);
CREATE INDEX awaited_uploads_due ON awaited_uploads (look_at_ms);`,
};
