// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** The bucket in which an upload is awaited; empty for those of before. The same name may be awaited in several. */
export const uploadHomes: Migration = {
  name: '0014-upload-homes',
  sql: {
    sqlite: `
ALTER TABLE awaited_uploads RENAME TO earlier_uploads;
CREATE TABLE awaited_uploads (
  home TEXT NOT NULL,
  name TEXT NOT NULL,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  asked_at_ms BIGINT NOT NULL,
  until_ms BIGINT NOT NULL,
  look_at_ms BIGINT NOT NULL,
  PRIMARY KEY (home, name)
);
INSERT INTO awaited_uploads (home, name, account, key_id, asked_at_ms, until_ms, look_at_ms)
  SELECT '', name, account, key_id, asked_at_ms, until_ms, look_at_ms FROM earlier_uploads;
DROP TABLE earlier_uploads;
CREATE INDEX awaited_uploads_due ON awaited_uploads (look_at_ms);`,
    postgres: `
ALTER TABLE awaited_uploads ADD COLUMN home TEXT NOT NULL DEFAULT '';
ALTER TABLE awaited_uploads DROP CONSTRAINT awaited_uploads_pkey;
ALTER TABLE awaited_uploads ADD PRIMARY KEY (home, name);`,
  },
};
