// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** `point` is a JSON text. */
export const operatingPoints: Migration = {
  name: '0006-operating-points',
  sql: `
    INSERT INTO revisions (topic, revision) VALUES ('operating-points', 0);
    CREATE TABLE operating_points (
      name TEXT NOT NULL,
      model TEXT NOT NULL,
      point TEXT NOT NULL,
      revision BIGINT NOT NULL,
      PRIMARY KEY (name, model)
    );
  `,
};
